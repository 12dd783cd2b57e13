/** A signal that aborts with `parent` or when its time is up, and that leaves no listener behind when disposed. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** Whether it was time, not the parent, that ended it. */
  expired(): boolean;
  /** Begins the time anew. */
  renew(): void;
}

/** `milliseconds` from now, or from the last `renew`. */
export function deadline(milliseconds: number, parent: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new Error(`no answer within ${milliseconds} ms`));
  }, milliseconds);
  const forward = (): void => controller.abort(parent?.reason);
  if (parent?.aborted) forward();
  else parent?.addEventListener("abort", forward, { once: true });
  return {
    signal: controller.signal,
    expired: () => expired,
    renew: () => void timer.refresh(),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      parent?.removeEventListener("abort", forward);
    },
  };
}

export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** Resolves after the time or as soon as the signal aborts; never rejects. */
export const sleep: Sleep = (milliseconds, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end, { once: true });
  });
