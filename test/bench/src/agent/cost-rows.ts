import type { BenchmarkRow } from "../benchmark.ts";
import { NODE_PARTS } from "./node.ts";
import { fixed, type Memory, median } from "./usage.ts";

/** MiB: the peer, as it was measured first, and all that comes built in. */
const MEMORY_BUDGET = 72;
const ALL_BUDGET = 120;
const CPU_BUDGET = 0.4;

/** CPU in one stretch of time, in millicores. */
export interface Window {
  /** The program itself. */
  readonly own: number;
  /** Each part of the node that works for it. */
  readonly parts: Readonly<Record<string, number>>;
}

/** A stretch in which no program worked, and the one after it in which one did. */
export interface Compared {
  readonly base: Window;
  readonly with: Window;
}

export interface Round {
  readonly agent: Compared;
  readonly collector: Compared;
}

interface Figure {
  readonly middle: number;
  readonly spread: number;
}

const total = ({ own, parts }: Window): number => own + Object.values(parts).reduce((sum, part) => sum + part, 0);

/** Millicores that a program causes in all: what the node takes with it, less what it took just before. */
export const caused = (compared: Compared): number => total(compared.with) - total(compared.base);

const more = (compared: Compared, part: string): number =>
  (compared.with.parts[part] ?? 0) - (compared.base.parts[part] ?? 0);

/** A ratio only of figures that stand out of their own spread: else it is that of two noises. */
function ratioOf(ours: Figure, theirs: Figure): { readonly figure: string; readonly met: boolean } {
  if (ours.spread >= ours.middle || theirs.spread >= theirs.middle)
    return { figure: "lost in what the node's parts vary by", met: false };
  const ratio = ours.middle / theirs.middle;
  return { figure: `${fixed(ratio, 2)} ×`, met: ratio <= CPU_BUDGET };
}

export function rowsOf(
  measured: readonly Round[],
  memory: { readonly agent: Memory; readonly collector: Memory },
  all: { readonly cpu: number; readonly memory: Memory },
): readonly BenchmarkRow[] {
  const of = (pick: (round: Round) => number): { middle: number; spread: number } => median(measured.map(pick));
  const show = ({ middle, spread }: { middle: number; spread: number }): string =>
    `${fixed(middle)} ± ${fixed(spread)} millicores`;
  const ours = of(({ agent }) => caused(agent));
  const theirs = of(({ collector }) => caused(collector));
  const shares = ({ anonymous, pss }: Memory): string =>
    `${fixed(pss)} MiB (${fixed(anonymous)} of its own, ${fixed(pss - anonymous)} of files)`;
  return [
    { what: "CPU, the agent's own", figure: show(of(({ agent }) => agent.with.own)) },
    { what: "CPU, the collector's own", figure: show(of(({ collector }) => collector.with.own)) },
    ...NODE_PARTS.map((part) => ({
      what: `CPU that ${part} spends more with the agent, and with the collector`,
      figure: `${show(of(({ agent }) => more(agent, part)))}; ${show(of(({ collector }) => more(collector, part)))}`,
    })),
    { what: "CPU caused in all, the agent", figure: show(ours) },
    { what: "CPU caused in all, the collector", figure: show(theirs) },
    { what: "CPU caused, agent to collector", ...ratioOf(ours, theirs), budget: `≤ ${CPU_BUDGET} ×` },
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
