import { setTimeout as sleep } from "node:timers/promises";
import type { Benchmark } from "../benchmark.ts";
import { BundledAgent, Installation } from "./bundled-agent.ts";
import { loadPods } from "./load.ts";
import { makeTopic } from "./topic.ts";
import { fixed, type Held, heldBy, memoryOf } from "./usage.ts";

const PODS = 100;
/** A frame's worth a hundred crawls: less is noise of the collector of garbage. */
const BUDGET = 1024;

const KINDS: readonly (readonly [kind: keyof Held, what: string])[] = [
  ["descriptors", "Descriptors"],
  ["namespaces", "Namespaces held open or entered"],
  ["mounts", "Mounts"],
  ["threads", "Threads"],
  ["children", "Child processes"],
  ["zombies", "Zombies"],
];

/** Least squares. */
function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const mean = (pick: (point: { x: number; y: number }) => number): number =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const x = mean((point) => point.x);
  const y = mean((point) => point.y);
  const over = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0);
  return over / points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
}

export const bench: Benchmark = {
  name: "heap",
  title: "What stays behind after 10,000 crawls",
  async run({ log, quick, signal }) {
    const wanted = quick ? 2_000 : 10_000;
    using installation = await Installation.make();
    await loadPods(PODS, signal);
    await using topic = await makeTopic();
    await using agent = await BundledAgent.start(installation, { topic: topic.name, every: "1s", signal });
    await sleep(40_000, undefined, { signal });
    const crawls = (): Promise<number> => agent.metric("trawler_frames_total");
    const first = await crawls();
    const before = heldBy(agent.pid);
    const samples: { x: number; y: number }[] = [];
    for (let done = 0; done < wanted; ) {
      await sleep(1_000, undefined, { signal });
      done = (await crawls()) - first;
      samples.push({ x: done, y: await agent.metric("nodejs_heap_size_used_bytes") });
      if (samples.length % 30 === 0) log(`${done} crawls`);
    }
    const after = heldBy(agent.pid);
    // Between collections the heap rises: the least of each ten is what is left after one.
    const low = samples.flatMap((_, index) => {
      const group = samples.slice(index, index + 10);
      return index % 10 === 0 && group.length === 10 ? [group.reduce((a, b) => (a.y <= b.y ? a : b))] : [];
    });
    const perThousand = (slope(low) * 1000) / 1024;
    return {
      rows: [
        {
          what: "Heap that a thousand crawls of a pod leave",
          figure: `${fixed(perThousand)} KiB`,
          budget: `≤ ${BUDGET / 1024} MiB in ten thousand`,
          met: perThousand * 10 <= BUDGET,
        },
        ...KINDS.map(([kind, what]) => ({
          what: `${what}, before and after`,
          figure: `${before[kind]}, ${after[kind]}`,
          budget: "none more",
          met: after[kind] <= before[kind],
        })),
        { what: "Memory (Pss) at the end", figure: `${fixed(memoryOf(agent.pid).pss)} MiB` },
      ],
      method: `The bundled agent every 1 s on ${PODS} pods with all built-in crawlers, ${wanted} frames; heap in use from /metrics each second, the least of each ten seconds, least squares.`,
      raw: { low, before, after },
    };
  },
};
