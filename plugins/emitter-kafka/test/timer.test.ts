import Queue from "kafkajs/src/network/requestQueue/index.js";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { mendNegativeTimer, scheduleCheckPendingRequests } from "../src/timer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function queue(pending: number, throttledUntil: number) {
  const state = {
    pending: Array.from({ length: pending }),
    throttledUntil,
    throttleCheckTimeoutId: null as NodeJS.Timeout | null,
    checks: 0,
    checkPendingRequests: () => void state.checks++,
  };
  return state;
}

test("C133: an empty queue sets no timer, and none is ever negative", () => {
  const empty = queue(0, -1);
  scheduleCheckPendingRequests.call(empty);
  expect(vi.getTimerCount()).toBe(0);

  const waiting = queue(1, -1);
  scheduleCheckPendingRequests.call(waiting);
  scheduleCheckPendingRequests.call(waiting);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(9);
  expect(waiting.checks).toBe(0);
  vi.advanceTimersByTime(1);
  expect(waiting.checks).toBe(1);
});

test("C132: a throttled queue is checked when the throttle ends", () => {
  const throttled = queue(1, Date.now() + 15_000);
  scheduleCheckPendingRequests.call(throttled);
  vi.advanceTimersByTime(14_999);
  expect(throttled.checks).toBe(0);
  vi.advanceTimersByTime(1);
  expect(throttled.checks).toBe(1);
});

test("the mend reaches the library's own queue", () => {
  mendNegativeTimer();
  expect(Reflect.get(Queue.prototype, "scheduleCheckPendingRequests")).toBe(scheduleCheckPendingRequests);
});
