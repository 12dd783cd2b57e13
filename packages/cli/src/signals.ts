const NUMBERS: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGTERM", 15],
]);

/**
 * Listens for SIGTERM, SIGINT and SIGHUP until it is disposed. The first aborts `signal`; a second one, or `grace`
 * milliseconds without an end, ends the process at once.
 */
export class StopSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #listener: (name: NodeJS.Signals) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(grace: number, onStop: (name: NodeJS.Signals) => void) {
    this.#listener = (name) => {
      if (this.signal.aborted) process.exit(128 + (NUMBERS.get(name) ?? 0));
      onStop(name);
      // The flush has its own deadline; this holds where a plugin keeps the process alive beyond it.
      this.#timer = setTimeout(() => process.exit(0), grace).unref();
      this.#controller.abort();
    };
    for (const name of NUMBERS.keys()) process.on(name, this.#listener);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const name of NUMBERS.keys()) process.off(name, this.#listener);
  }
}
