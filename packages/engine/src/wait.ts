/** Resolves after `ms`, or at once when `signal` aborts; leaves no timer and no listener behind. */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const done = Promise.withResolvers<void>();
  const finish = (): void => done.resolve();
  const timer = setTimeout(finish, ms);
  signal.addEventListener("abort", finish, { once: true });
  try {
    await done.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", finish);
  }
}

/** Resolves when `work` settles either way, after `ms` at the latest. */
export async function settled(work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => over.resolve(false), ms);
  const finish = (): void => over.resolve(true);
  work.then(finish, finish);
  const inTime = await over.promise;
  clearTimeout(timer);
  return inTime;
}

/** Rejects with the signal's reason when it aborts; `dispose` removes the listener. */
export function aborted(signal: AbortSignal): { readonly promise: Promise<never>; dispose(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  promise.catch(() => undefined);
  return { promise, dispose: () => signal.removeEventListener("abort", onAbort) };
}

/** Waits that double from `first` to `cap` milliseconds, each between half and the whole of it. */
export class Backoff {
  readonly #first: number;
  readonly #cap: number;
  #next: number;

  constructor(first: number, cap: number) {
    this.#first = first;
    this.#cap = cap;
    this.#next = first;
  }

  next(): number {
    const wait = this.#next;
    this.#next = Math.min(wait * 2, this.#cap);
    return wait * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#next = this.#first;
  }
}
