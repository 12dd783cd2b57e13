import { setTimeout as sleep } from "node:timers/promises";
import type { Benchmark, BenchmarkContext } from "../benchmark.ts";
import { BundledAgent, Installation } from "./bundled-agent.ts";
import { Collector } from "./collector.ts";
import { caused, type Round, rowsOf, type Window } from "./cost-rows.ts";
import { loadPods } from "./load.ts";
import { NODE_PARTS, pidOf, waitFor } from "./node.ts";
import { countRecords, makeTopic } from "./topic.ts";
import { cpuSeconds, fixed, type Memory, median, memoryOf } from "./usage.ts";

const PODS = 100;
/** Figures and metadata, as the peer has them. */
const FIGURES = ["os", "cpu", "memory", "blockio", "network"];
/** Milliseconds after a pause in which a program connects and lists anew: work that it has no other day. */
const SETTLE = 20_000;

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

/**
 * One after the other works while the rest stands still, each after a stretch in which none does: what the node's parts
 * take by themselves drifts within minutes, by more than either program adds.
 */
async function rounds(agent: BundledAgent, collector: Collector, context: BenchmarkContext): Promise<readonly Round[]> {
  const { quick, signal, log } = context;
  const seconds = quick ? 20 : 60;
  const done: Round[] = [];
  const work = async (one: BundledAgent | Collector): Promise<{ base: Window; with: Window }> => {
    const base = await observe(seconds, null, signal);
    one.resume();
    await sleep(SETTLE, undefined, { signal });
    const window = await observe(seconds, one.pid, signal);
    one.pause();
    return { base, with: window };
  };
  agent.pause();
  collector.pause();
  for (let round = 1; round <= (quick ? 2 : 5); round++) {
    const [first, second] = round % 2 === 0 ? [collector, agent] : [agent, collector];
    const one = await work(first);
    const other = await work(second);
    const pair = first === agent ? { agent: one, collector: other } : { agent: other, collector: one };
    done.push(pair);
    log(
      `round ${round}: agent ${fixed(pair.agent.with.own)} of its own and ${fixed(caused(pair.agent))} in all, ` +
        `collector ${fixed(pair.collector.with.own)} and ${fixed(caused(pair.collector))} millicores`,
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
      method: `Rounds of ${context.quick ? 20 : 60} s each: nothing, the agent, nothing, the collector (in turns), the ones that do not work stopped by SIGSTOP, ${SETTLE / 1000} s to find back in. CPU from /proc/<pid>/stat of the program, ${NODE_PARTS.join(", ")}; "in all" is their sum less that of the stretch without, just before. Medians over ${measured.length} rounds, ± half the distance of the quartiles. Memory is Pss of smaps_rollup after the rounds; Node is a copy of its own, so that no other process shares its pages. Agent: \`node ${flags} trawl.js run\`, crawlers ${FIGURES.join(", ")}, the token of its own account, Kafka with gzip and acks all. Collector: version 0.149, kubeletstats (pod and container), k8sattributes (labels, annotations, deployment), batch, Kafka with gzip and acks all.`,
      raw: {
        baseline: {
          cpu: median(measured.map((round) => round.agent.with.own)).middle,
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
