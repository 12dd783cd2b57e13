import { setTimeout as sleep } from "node:timers/promises";
import type { Benchmark, BenchmarkContext, BenchmarkRow } from "../benchmark.ts";
import { BundledAgent, Installation } from "./bundled-agent.ts";
import { Collector } from "./collector.ts";
import { loadPods } from "./load.ts";
import { NODE_PARTS, pidOf, waitFor } from "./node.ts";
import { countRecords, makeTopic } from "./topic.ts";
import { cpuSeconds, fixed, type Memory, median, memoryOf } from "./usage.ts";

const PODS = 100;
/** Figures and metadata, as the peer has them. */
const FIGURES = ["os", "cpu", "memory", "blockio", "network"];
/** MiB: the peer, as it was measured first, and all that comes built in. */
const MEMORY_BUDGET = 72;
const ALL_BUDGET = 120;
const CPU_BUDGET = 0.4;
/** Milliseconds after a pause in which a program connects and lists anew: work that it has no other day. */
const SETTLE = 20_000;

interface Window {
  /** Millicores: the program itself, and each part of the node that works for it. */
  readonly own: number;
  readonly parts: Readonly<Record<string, number>>;
}

const total = ({ own, parts }: Window): number => own + Object.values(parts).reduce((sum, part) => sum + part, 0);

/** CPU in one stretch of time, in thousandths of a core. */
async function observe(seconds: number, pid: number | null, signal: AbortSignal): Promise<Window> {
  const read = (): number[] => [
    ...NODE_PARTS.map((part) => cpuSeconds(pidOf(part))),
    pid === null ? 0 : cpuSeconds(pid),
  ];
  const began = performance.now();
  const before = read();
  await sleep(seconds * 1000, undefined, { signal });
  const after = read();
  const elapsed = (performance.now() - began) / 1000;
  const rates = after.map((value, index) => ((value - (before[index] ?? 0)) / elapsed) * 1000);
  const parts = Object.fromEntries(NODE_PARTS.map((part, index) => [part, rates[index] ?? Number.NaN]));
  return { own: rates.at(-1) ?? Number.NaN, parts };
}

interface Round {
  readonly base: Window;
  readonly agent: Window;
  readonly collector: Window;
}

/** One after the other works while the rest stands still: what a round compares lies minutes apart at most. */
async function rounds(agent: BundledAgent, collector: Collector, context: BenchmarkContext): Promise<readonly Round[]> {
  const { quick, signal, log } = context;
  const seconds = quick ? 20 : 60;
  const done: Round[] = [];
  const work = async (one: BundledAgent | Collector): Promise<Window> => {
    one.resume();
    await sleep(SETTLE, undefined, { signal });
    const window = await observe(seconds, one.pid, signal);
    one.pause();
    return window;
  };
  agent.pause();
  collector.pause();
  for (let round = 1; round <= (quick ? 2 : 5); round++) {
    const base = await observe(seconds, null, signal);
    const [first, second] = round % 2 === 0 ? [collector, agent] : [agent, collector];
    const one = await work(first);
    const other = await work(second);
    const [ofAgent, ofCollector] = first === agent ? [one, other] : [other, one];
    done.push({ base, agent: ofAgent, collector: ofCollector });
    log(
      `round ${round}: base ${fixed(total(base))}, agent ${fixed(ofAgent.own)} of its own and ${fixed(total(ofAgent) - total(base))} in all, ` +
        `collector ${fixed(ofCollector.own)} and ${fixed(total(ofCollector) - total(base))} millicores`,
    );
  }
  return done;
}

/** All built-in crawlers: CPU of the agent's own, and memory. */
async function everything(
  installation: Installation,
  context: BenchmarkContext,
): Promise<{ cpu: number; memory: Memory }> {
  await using topic = await makeTopic();
  await using agent = await BundledAgent.start(installation, {
    topic: topic.name,
    every: "10s",
    signal: context.signal,
  });
  await sleep(30_000, undefined, context);
  const { own } = await observe(context.quick ? 20 : 60, agent.pid, context.signal);
  return { cpu: own, memory: memoryOf(agent.pid) };
}

export const bench: Benchmark = {
  name: "cost",
  title: `What the agent costs a node of ${PODS} pods with ${PODS * 2} containers, every 10 s`,
  async run(context) {
    const { log, signal } = context;
    using installation = await Installation.make();
    log(`bringing ${PODS} pods up`);
    await loadPods(PODS, signal);
    await using topic = await makeTopic();
    await using peerTopic = await makeTopic();
    await using agent = await BundledAgent.start(installation, {
      topic: topic.name,
      every: "10s",
      crawlers: FIGURES,
      signal,
    });
    await using collector = await Collector.start(peerTopic.name, "10s", log);
    await waitFor("frames", async () => (await countRecords(topic.name)) >= PODS, { signal });
    await waitFor("records of the collector", async () => (await countRecords(peerTopic.name)) > 0, { signal }).catch(
      (cause) => {
        throw new Error(`the collector sends nothing:\n${collector.log}`, { cause });
      },
    );
    // Past the start: what it needed is given back 20 s after it.
    await sleep(30_000, undefined, { signal });
    const { flags } = agent;
    const measured = await rounds(agent, collector, context);
    agent.resume();
    collector.resume();
    await sleep(12_000, undefined, { signal });
    const memory = { agent: memoryOf(agent.pid), collector: memoryOf(collector.pid) };
    await agent[Symbol.asyncDispose]();
    await collector[Symbol.asyncDispose]();
    log("all built-in crawlers");
    const all = await everything(installation, context);
    return {
      rows: rowsOf(measured, memory, all),
      method: `Rounds of ${context.quick ? 20 : 60} s each: nothing, the agent, the collector (in turns), the ones that do not work stopped by SIGSTOP, ${SETTLE / 1000} s to find back in. CPU from /proc/<pid>/stat of the program, ${NODE_PARTS.join(", ")}; "in all" is their sum less that of the round without. Medians over ${measured.length} rounds, ± half the distance of the quartiles. Memory is Pss of smaps_rollup after the rounds; Node is a copy of its own, so that no other process shares its pages. Agent: \`node ${flags} trawl.js run\`, crawlers ${FIGURES.join(", ")}, the token of its own account, Kafka with gzip and acks all. Collector: version 0.149, kubeletstats (pod and container), k8sattributes (labels, annotations, deployment), batch, Kafka with gzip and acks all.`,
      raw: {
        baseline: {
          cpu: median(measured.map((round) => round.agent.own)).middle,
          cpuAll: all.cpu,
          memory: memory.agent.pss,
          memoryAll: all.memory.pss,
        },
        millicores: measured,
        mebibytes: memory,
        all,
      },
    };
  },
};

function rowsOf(
  measured: readonly Round[],
  memory: { readonly agent: Memory; readonly collector: Memory },
  all: { readonly cpu: number; readonly memory: Memory },
): readonly BenchmarkRow[] {
  const of = (pick: (round: Round) => number): { middle: number; spread: number } => median(measured.map(pick));
  const show = ({ middle, spread }: { middle: number; spread: number }): string =>
    `${fixed(middle)} ± ${fixed(spread)} millicores`;
  const caused = of(({ agent, base }) => total(agent) - total(base));
  const peerCaused = of(({ collector, base }) => total(collector) - total(base));
  const ratio = caused.middle / peerCaused.middle;
  const shares = ({ anonymous, pss }: Memory): string =>
    `${fixed(pss)} MiB (${fixed(anonymous)} of its own, ${fixed(pss - anonymous)} of files)`;
  return [
    { what: "CPU, the agent's own", figure: show(of(({ agent }) => agent.own)) },
    { what: "CPU, the collector's own", figure: show(of(({ collector }) => collector.own)) },
    ...NODE_PARTS.map((part) => ({
      what: `CPU that ${part} spends more with the agent, and with the collector`,
      figure: `${show(of(({ agent, base }) => (agent.parts[part] ?? 0) - (base.parts[part] ?? 0)))}; ${show(of(({ collector, base }) => (collector.parts[part] ?? 0) - (base.parts[part] ?? 0)))}`,
    })),
    { what: "CPU caused in all, the agent", figure: show(caused) },
    { what: "CPU caused in all, the collector", figure: show(peerCaused) },
    {
      what: "CPU caused, agent to collector",
      figure: `${fixed(ratio, 2)} ×`,
      budget: `≤ ${CPU_BUDGET} ×`,
      met: ratio <= CPU_BUDGET && ratio > 0,
    },
    {
      what: "Memory (Pss), the agent",
      figure: shares(memory.agent),
      budget: `≤ ${MEMORY_BUDGET} MiB or the collector's`,
      met: memory.agent.pss <= Math.max(MEMORY_BUDGET, memory.collector.pss),
    },
    { what: "Memory (Pss), the collector", figure: shares(memory.collector) },
    { what: "CPU with all built-in crawlers, the agent's own", figure: `${fixed(all.cpu)} millicores` },
    {
      what: "Memory (Pss) with all built-in crawlers",
      figure: shares(all.memory),
      budget: `≤ ${ALL_BUDGET} MiB`,
      met: all.memory.pss <= ALL_BUDGET,
    },
  ];
}
