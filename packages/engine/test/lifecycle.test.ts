import type { FrameReason, Workload } from "@trawler/plugin-api";
import { fakeContainer, fakeWorkload } from "@trawler/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lifecycle } from "../src/lifecycle.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const complete = { complete: true, reason: null, groups: {} };
const incomplete = { complete: false, reason: "the API is away", groups: {} };
const status = {
  phase: "Running",
  reason: null,
  qosClass: null,
  startTime: null,
  resourceVersion: "1",
  generation: 1,
  static: false,
  hostNetwork: false,
  ips: [],
  conditions: [],
};
const running = fakeWorkload({ status });
const waiting = fakeWorkload({
  status,
  lifecycle: "waiting",
  containers: [fakeContainer({ state: { ...fakeContainer().state, status: "waiting" } })],
});
const terminated = fakeContainer({ state: { ...fakeContainer().state, status: "terminated", exitCode: 0 } });
const over = fakeWorkload({ status, lifecycle: "ended", containers: [terminated] });
const succeeded: Workload = { ...over, status: { ...status, phase: "Succeeded" } };

function start(first: Workload) {
  const written: FrameReason[] = [];
  const lifecycle = new Lifecycle(first, (reason) => written.push(reason));
  lifecycle.observe(first);
  return { lifecycle, written };
}

test("started comes once, when the first container runs", () => {
  const { lifecycle, written } = start(waiting);
  expect(written).toEqual([]);
  lifecycle.observe(running);
  lifecycle.observe({ ...running });
  vi.advanceTimersByTime(60_000);
  expect(written).toEqual(["started"]);
});

test("C24: started waits for metadata, at most 500 ms", () => {
  const young = { ...running, metadata: incomplete };
  const first = start(young);
  vi.advanceTimersByTime(499);
  expect(first.written).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(first.written).toEqual(["started"]);
  const second = start(young);
  vi.advanceTimersByTime(100);
  second.lifecycle.observe({ ...young, metadata: complete });
  expect(second.written).toEqual(["started"]);
});

test("what came in after the hold is told by a changed frame", () => {
  const { lifecycle, written } = start({ ...running, metadata: incomplete });
  vi.advanceTimersByTime(500);
  lifecycle.observe({ ...running, metadata: complete });
  vi.advanceTimersByTime(1000);
  expect(written).toEqual(["started", "changed"]);
});

test("changes are told 1 s later, together, and at most one a second", () => {
  const { lifecycle, written } = start(running);
  for (let index = 0; index < 40; index++) {
    lifecycle.observe({ ...running, labels: { version: String(index) } });
    vi.advanceTimersByTime(100);
  }
  expect(written.length).toBeGreaterThan(2);
  expect(written.length).toBeLessThanOrEqual(5);
});

test("a change that is taken back tells nothing", () => {
  const { lifecycle, written } = start(running);
  lifecycle.observe({ ...running, labels: { a: "1" } });
  lifecycle.observe(running);
  vi.advanceTimersByTime(5000);
  expect(written).toEqual(["started"]);
});

test("conditions, resourceVersion and unrelated annotations cause no frame; crawl annotations do", () => {
  const { lifecycle, written } = start(running);
  const condition = { type: "Ready", status: "False", reason: null, since: null };
  lifecycle.observe({ ...running, status: { ...status, resourceVersion: "2", conditions: [condition] } });
  lifecycle.observe({ ...running, annotations: { team: "data" } });
  vi.advanceTimersByTime(5000);
  expect(written).toEqual(["started"]);
  lifecycle.observe({ ...running, annotations: { "trawler.dev/crawl.redis": "{}" } });
  vi.advanceTimersByTime(1000);
  expect(written).toEqual(["started", "changed"]);
});

test.each<[string, (workload: Workload) => Workload]>([
  ["a label", (workload) => ({ ...workload, labels: { role: "primary" } })],
  ["a restart", (workload) => ({ ...workload, containers: [fakeContainer({ id: "d".repeat(64) })] })],
  ["an address", (workload) => ({ ...workload, status: { ...status, ips: ["10.0.0.1"] } })],
  ["a phase", (workload) => ({ ...workload, status: { ...status, phase: "Unknown" } })],
  ["an owner", (workload) => ({ ...workload, resource: { ...workload.resource, "k8s.deployment.name": "cart" } })],
])("%s causes a changed frame", (_, change) => {
  const { lifecycle, written } = start(running);
  lifecycle.observe(change(running));
  vi.advanceTimersByTime(1000);
  expect(written).toEqual(["started", "changed"]);
});

test("metadata that is complete again causes a changed frame; that it went away does not", () => {
  const { lifecycle, written } = start(running);
  lifecycle.observe({ ...running, metadata: incomplete });
  vi.advanceTimersByTime(5000);
  expect(written).toEqual(["started"]);
  lifecycle.observe(running);
  vi.advanceTimersByTime(1000);
  expect(written).toEqual(["started", "changed"]);
});

test("ended waits for the final state, at most 2 s, and nothing follows it", () => {
  const first = start(running);
  first.lifecycle.observe(over);
  vi.advanceTimersByTime(500);
  expect(first.written).toEqual(["started"]);
  expect(first.lifecycle.isRunning).toBe(false);
  first.lifecycle.observe(succeeded);
  expect(first.written).toEqual(["started", "ended"]);
  first.lifecycle.observe(running);
  first.lifecycle.remove(succeeded);
  vi.advanceTimersByTime(10_000);
  expect(first.written).toEqual(["started", "ended"]);
  const second = start(running);
  second.lifecycle.observe(over);
  vi.advanceTimersByTime(2000);
  expect(second.written).toEqual(["started", "ended"]);
});

test("a pod that lives shorter than the hold leaves started and ended, in this order", () => {
  const { lifecycle, written } = start({ ...running, metadata: incomplete });
  lifecycle.observe({ ...over, metadata: incomplete });
  expect(written).toEqual([]);
  lifecycle.remove({ ...over, metadata: incomplete });
  expect(written).toEqual(["started", "ended"]);
});

test("a pod that never ran and is removed leaves nothing; one that failed before it ran leaves ended", () => {
  const removed = start(waiting);
  removed.lifecycle.remove(waiting);
  expect(removed.written).toEqual([]);
  const failed = start({ ...waiting, lifecycle: "ended", status: { ...status, phase: "Failed" } });
  expect(failed.written).toEqual(["ended"]);
});

test("a stop tells at once what is held back", () => {
  const starting = start({ ...running, metadata: incomplete });
  starting.lifecycle.close();
  expect(starting.written).toEqual(["started"]);
  const ending = start(running);
  ending.lifecycle.observe(over);
  ending.lifecycle.close();
  expect(ending.written).toEqual(["started", "ended"]);
  const both = start({ ...over, metadata: incomplete });
  both.lifecycle.close();
  expect(both.written).toEqual(["started", "ended"]);
  vi.advanceTimersByTime(10_000);
  expect(vi.getTimerCount()).toBe(0);
});

test("ended of a container waits for nothing: the API has no record of it", () => {
  const { lifecycle, written } = start({ ...running, kind: "container" });
  lifecycle.observe({ ...over, kind: "container" });
  expect(written).toEqual(["started", "ended"]);
});

test("a host without containers runs as long as it is there", () => {
  const host = fakeWorkload({ kind: "host", id: "node-a", name: "node-a", containers: [], status: null });
  const { lifecycle, written } = start(host);
  expect(written).toEqual(["started"]);
  expect(lifecycle.isRunning).toBe(true);
});
