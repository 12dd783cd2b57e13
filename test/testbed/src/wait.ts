import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, TestbedError } from "./errors.ts";

export interface WaitOptions {
  /** Milliseconds after which the wait fails. */
  readonly deadline: number;
  /** Milliseconds between two probes. */
  readonly every?: number;
  readonly signal?: AbortSignal;
}

/**
 * Polls until the probe answers something other than `undefined` or `false`, and returns it.
 * A probe that throws counts as "not yet"; its last error is named when the deadline passes.
 */
export const waitUntil = async <T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  { deadline, every = 200, signal }: WaitOptions,
): Promise<T> => {
  const end = performance.now() + deadline;
  let last = "";
  for (;;) {
    signal?.throwIfAborted();
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
      last = "";
    } catch (error) {
      if (error instanceof TestbedError && error.final) throw error;
      last = `: ${messageOf(error)}`;
    }
    if (performance.now() > end) throw new TestbedError(`Waited ${deadline / 1000} s for ${what}${last}`);
    await sleep(every, undefined, signal === undefined ? {} : { signal });
  }
};
