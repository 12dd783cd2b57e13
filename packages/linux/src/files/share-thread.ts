import { setImmediate } from "node:timers/promises";
import { SLICE } from "./budget.ts";

/** When others had their turn last, and the turn that callers wait for. A thread has one such time, whoever asks. */
let turned = 0;
let next: Promise<void> | undefined;

/**
 * Lets timers and sockets have their turn between many short calls, of which none holds the thread for long: each is
 * synchronous, so a crawl of a thousand files would else run as one piece, and with it all others that were begun.
 */
export async function shareThread(): Promise<void> {
  if (performance.now() - turned < SLICE) return;
  // All wait for one turn: what each then does is part of the same slice.
  next ??= setImmediate().then(() => {
    turned = performance.now();
    next = undefined;
  });
  await next;
}
