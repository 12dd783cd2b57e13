import { setTimeout as sleep } from "node:timers/promises";
import { componentPid, readTestbedState, type Testbed } from "@trawler/testbed";

export type Node = Testbed & Required<Pick<Testbed, "kubernetes" | "kafka">>;

/** The testbed that is up. */
export function node(): Node {
  const state = readTestbedState();
  if (!state?.kubernetes || !state.kafka) throw new Error("no testbed is up: npm run testbed -- up");
  return { ...state, kubernetes: state.kubernetes, kafka: state.kafka };
}

/** The parts of the node that work for whoever asks them, by name. */
export const NODE_PARTS = ["kubelet", "containerd", "apiserver"] as const;

export function pidOf(part: (typeof NODE_PARTS)[number]): number {
  const pid = componentPid(part);
  if (pid === undefined) throw new Error(`${part} of the testbed does not run`);
  return pid;
}

/** Polls until the probe answers something other than undefined or false. */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { signal, deadline = 60_000 }: { readonly signal: AbortSignal; readonly deadline?: number },
): Promise<T> {
  const end = performance.now() + deadline;
  for (;;) {
    const answer = await Promise.resolve(probe()).catch(() => undefined);
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > end) throw new Error(`waited ${deadline / 1000} s for ${what}`);
    await sleep(200, undefined, { signal });
  }
}
