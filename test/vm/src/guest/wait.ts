import { setTimeout as sleep } from "node:timers/promises";

/** Ten times what a step was seen to take on a busy machine. */
export const deadline = 600_000;

/** Polls until the probe answers something other than undefined or false; a probe that throws counts as "not yet". */
export const waitUntil = async <T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  every = 500,
): Promise<T> => {
  const end = performance.now() + deadline;
  let last = "";
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      last = `: ${String(error)}`;
    }
    if (performance.now() > end) throw new Error(`waited ${deadline / 1000} s for ${what}${last}`);
    await sleep(every);
  }
};
