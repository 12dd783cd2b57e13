import { setTimeout as sleep } from "node:timers/promises";

/** Polls until the probe answers something other than undefined or false; throws with what it waited for. */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  deadline = 60_000,
): Promise<T> {
  const end = performance.now() + deadline;
  let last: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) {
      throw new Error(`waited ${deadline / 1000} s for ${what}`, last === undefined ? undefined : { cause: last });
    }
    await sleep(100);
  }
}
