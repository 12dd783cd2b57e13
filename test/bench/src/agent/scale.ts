import { setTimeout as sleep } from "node:timers/promises";
import type { Benchmark } from "../benchmark.ts";
import { BundledAgent, Installation } from "./bundled-agent.ts";
import { loadPods } from "./load.ts";
import { waitFor } from "./node.ts";
import { countRecords, makeTopic } from "./topic.ts";
import { cpuSeconds, fixed, memoryOf } from "./usage.ts";

const EVERY = 2;
const FIGURES = ["os", "cpu", "memory", "blockio", "network"];
const BUDGET = 0.2;

export const bench: Benchmark = {
  name: "scale",
  title: "Cost per pod from 10 to 250 pods",
  async run({ log, quick, signal }) {
    const sizes = quick ? [0, 10, 50] : [0, 250, 100, 50, 10];
    const seconds = quick ? 20 : 40;
    using installation = await Installation.make();
    const points: { pods: number; crawl: number; pss: number }[] = [];
    for (const pods of sizes) {
      await loadPods(pods, signal);
      await using topic = await makeTopic();
      const options = { topic: topic.name, every: `${EVERY}s`, crawlers: FIGURES, signal };
      await using agent = await BundledAgent.start(installation, options);
      await waitFor("frames", async () => (await countRecords(topic.name)) >= pods, { signal });
      // Long enough for the code to be compiled and for the node to have calmed down.
      await sleep(25_000, undefined, { signal });
      const before = cpuSeconds(agent.pid);
      const began = performance.now();
      await sleep(seconds * 1000, undefined, { signal });
      const crawls = (performance.now() - began) / 1000 / EVERY;
      const crawl = ((cpuSeconds(agent.pid) - before) * 1e6) / crawls;
      points.push({ pods, crawl, pss: memoryOf(agent.pid).pss });
      log(`${pods} pods: ${fixed(crawl / 1000)} ms of CPU a crawl`);
    }
    const idle = points.find(({ pods }) => pods === 0)?.crawl ?? 0;
    const loaded = points
      .filter(({ pods }) => pods > 0)
      .map(({ pods, crawl, pss }) => ({ pods, pss, each: (crawl - idle) / pods }))
      .toSorted((a, b) => a.pods - b.pods);
    // Ten pods are a few ms of a clock that ticks every ten: what is compared is what can be told apart.
    const compared = loaded.filter(({ pods }) => pods >= 50).map(({ each }) => each);
    const spread = Math.max(...compared) / Math.min(...compared) - 1;
    return {
      rows: [
        ...loaded.map(({ pods, each, pss }) => ({
          what: `CPU per pod and crawl, ${pods} pods of two containers`,
          figure: `${fixed(each, 0)} µs (${fixed(pss)} MiB Pss)`,
        })),
        {
          what: "Largest against smallest, from 50 pods on",
          figure: `+${fixed(spread * 100, 0)} %`,
          budget: "≤ 20 %",
          met: spread <= BUDGET,
        },
      ],
      method: `The bundled agent every ${EVERY} s with ${FIGURES.join(", ")} to Kafka, ${seconds} s a size after 25 s of warm-up; CPU of /proc/<pid>/stat, less what the same agent uses with no pod (${fixed(idle / 1000)} ms a slot).`,
      raw: points,
    };
  },
};
