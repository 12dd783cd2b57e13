import { afterEach, expect, test, vi } from "vitest";
import { keepSmall } from "../src/footprint.ts";

afterEach(() => void vi.useRealTimers());

test("what the start needed is collected after twenty seconds, later what piled up, and nothing once it is disposed", () => {
  vi.useFakeTimers();
  const collect = vi.fn();
  const small = keepSmall(collect);
  vi.advanceTimersByTime(19_999);
  expect(collect).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(collect).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(600_000);
  expect(collect).toHaveBeenCalledTimes(2);
  small[Symbol.dispose]();
  vi.advanceTimersByTime(1_200_000);
  expect(collect).toHaveBeenCalledTimes(2);
});
