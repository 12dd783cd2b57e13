import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { BUILT_IN_KINDS, openCollector } from "@trawler/inventory";
import { createApiClient, tokenTarget } from "@trawler/kube";

/** The inventory's collector, as `trawl inventory run` opens it, in a process of its own. */

export type FromCollector =
  | {
      readonly type: "synced";
      /** Seconds from before it was opened until every pod was on the disk in the queue, and until it could be asked for. */
      readonly durable: number;
      readonly visible: number;
      readonly cpuSeconds: number;
      readonly heapBytesPerPod: number;
      readonly busiest: ThreadSeconds;
    }
  | {
      readonly type: "settled";
      readonly events: number;
      readonly deleted: number;
      readonly live: number;
      readonly updates: number;
      readonly quarantined: number;
      /** Milliseconds, one for each event. */
      readonly durable: readonly number[];
      readonly visible: readonly number[];
      readonly cpuSeconds: number;
    };

/** Of one thread: on a CPU, and ready to run while others had it. */
export interface ThreadSeconds {
  readonly running: number;
  readonly waiting: number;
}

/** Waits until so many events have been applied, then tells. */
export interface ToCollector {
  readonly type: "settle";
  readonly events: number;
}

const [url = "", folder = "", pods = "0", streamingList = "off"] = process.argv.slice(2);
const expected = Number(pods);
const tell = (message: FromCollector): void => void process.send?.(message);

const heap = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};
const heapBefore = heap();
const begun = performance.now();
const cpuBefore = process.cpuUsage();
let delays: { durable: number[]; visible: number[] } = { durable: [], visible: [] };

const collector = await openCollector({
  client: createApiClient({ target: tokenTarget({ server: url }) }),
  clock: { now: () => Date.now(), monotonic: () => performance.now() / 1000 },
  log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  cluster: "bench",
  folder,
  kinds: BUILT_IN_KINDS,
  token: 0,
  flushMilliseconds: 500,
  flushEvents: 500,
  flushBytes: 4 * 1024 * 1024,
  queueBytes: 2 * 1024 ** 3,
  retention: { days: 180, rows: 10_000_000 },
  tuning: { streamingList: streamingList === "auto" ? "auto" : "off" },
  lag: {
    durable: (seconds) => void delays.durable.push(seconds * 1000),
    visible: (seconds) => void delays.visible.push(seconds * 1000),
  },
});
const stopping = new AbortController();
const running = collector.run(stopping.signal);

const isListed = (): boolean => collector.status().kinds.every(({ state }) => state === "synced");
while (!isListed() || collector.queue.status().pending > 0) await delay(20);
const durable = (performance.now() - begun) / 1000;
await collector.writer.flush(collector.queue.status().durable);
const visible = (performance.now() - begun) / 1000;
const cpuSeconds = cpuSince(cpuBefore);
const busiest = busiestThread();
delays = { durable: [], visible: [] };
const live = collector.store.status().live;
if (live !== expected) throw new Error(`${live} records instead of ${expected}`);
const heapBytesPerPod = expected === 0 ? 0 : (heap() - heapBefore) / expected;
tell({ type: "synced", durable, visible, cpuSeconds, heapBytesPerPod, busiest });

process.on("message", ({ events }: ToCollector) => void settle(events));
process.on("disconnect", () => process.exit(0));
await running;

async function settle(events: number): Promise<void> {
  const cpu = process.cpuUsage();
  const received = (): number => collector.status().kinds.reduce((sum, { reflector }) => sum + reflector.events, 0);
  while (received() < events || collector.queue.status().pending > 0) await delay(20);
  await collector.writer.flush(collector.queue.status().durable);
  const { live: alive, deleted, quarantined } = collector.store.status();
  let updates = 0;
  for (let after = 0; ; ) {
    const changes = collector.store.changes(after, 1000);
    for (const { cursor, record } of changes) {
      after = cursor;
      if (record.end !== null) updates += record.updates;
    }
    if (changes.length === 0) break;
  }
  const { durable: onDisk, visible: inStore } = delays;
  delays = { durable: [], visible: [] };
  const cpuSeconds = cpuSince(cpu);
  tell({
    type: "settled",
    events: received(),
    deleted,
    live: alive,
    updates,
    quarantined,
    durable: onDisk,
    visible: inStore,
    cpuSeconds,
  });
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** The thread that decides how long it takes: the writer's. */
function busiestThread(): ThreadSeconds {
  const threads = readdirSync("/proc/self/task").map((task) => {
    const [running = 0, waiting = 0] = readFileSync(`/proc/self/task/${task}/schedstat`, "utf8").split(" ").map(Number);
    return { running: running / 1e9, waiting: waiting / 1e9 };
  });
  return threads.reduce((most, one) => (one.running > most.running ? one : most));
}
