import type { Workload, WorkloadEvent } from "@trawler/plugin-api";
import { fakeWorkload } from "@trawler/testkit";
import { describe, expect, it } from "vitest";
import { EventQueue } from "../src/queue.ts";

const workload = (id: string, lifecycle: Workload["lifecycle"] = "running"): Workload => ({
  ...fakeWorkload({ id }),
  lifecycle,
});

const brief = (event: WorkloadEvent): string =>
  event.type === "synced" ? "synced" : `${event.type} ${event.workload.id} ${event.workload.lifecycle}`;

/** What waits in the queue now. */
async function read(queue: EventQueue): Promise<string[]> {
  const stop = new AbortController();
  const seen: string[] = [];
  setImmediate(() => stop.abort());
  for await (const event of queue.events(stop.signal)) seen.push(brief(event));
  return seen;
}

describe("the event queue", () => {
  it("tells a pod once, however often it changed before it was read", async () => {
    const queue = new EventQueue();
    queue.put(workload("a", "waiting"));
    queue.put(workload("b"));
    queue.put(workload("a"));
    expect(await read(queue)).toEqual(["added a running", "added b running"]);
    queue.put(workload("a", "ended"));
    expect(await read(queue)).toEqual(["updated a ended"]);
  });

  it("tells the end of a pod that came and went unread, then its removal", async () => {
    const queue = new EventQueue();
    queue.put(workload("a", "ended"));
    queue.remove("a");
    expect(await read(queue)).toEqual(["added a ended", "removed a ended"]);
    queue.remove("a");
    queue.remove("never");
    expect(await read(queue)).toEqual([]);
  });

  it("tells a pod that is no longer wanted apart from one that has gone", async () => {
    const queue = new EventQueue();
    const stop = new AbortController();
    const events = queue.events(stop.signal);
    queue.put(workload("a"));
    await events.next();
    queue.unselect("a");
    expect((await events.next()).value).toMatchObject({ type: "removed", unselected: true });
    queue.put(workload("a"));
    expect((await events.next()).value).toMatchObject({ type: "added" });
    queue.remove("a");
    expect((await events.next()).value).toEqual({ type: "removed", workload: workload("a") });
  });

  it("tells that all has been reported once, after what waits", async () => {
    const queue = new EventQueue();
    queue.synced();
    queue.put(workload("a"));
    expect(await read(queue)).toEqual(["added a running", "synced"]);
    queue.synced();
    expect(await read(queue)).toEqual([]);
  });

  it("holds no more than one entry a pod", async () => {
    const queue = new EventQueue();
    for (let index = 0; index < 10_000; index += 1) queue.put(workload(`pod-${index % 3}`));
    expect(await read(queue)).toHaveLength(3);
  });

  it("wakes its reader", async () => {
    const queue = new EventQueue();
    const stop = new AbortController();
    const events = queue.events(stop.signal);
    const first = events.next();
    queue.put(workload("a"));
    expect((await first).value).toMatchObject({ type: "added" });
    const second = events.next();
    stop.abort();
    expect((await second).done).toBe(true);
  });
});
