const AT = "monotonic";

/**
 * Rates of counters between two readings, whose values the crawler's state holds. Null on the first reading, where a
 * counter went back (the disk is another one), and where no time has passed. Only what was asked for last is kept.
 */
export class Rates {
  readonly #state: Map<string, number>;
  readonly #now: number;
  readonly #elapsed: number | null;
  readonly #seen: Map<string, number> = new Map();

  /** `now` in seconds of a clock that never goes back. */
  constructor(state: Map<string, number>, now: number) {
    const before = state.get(AT);
    this.#state = state;
    this.#now = now;
    this.#elapsed = before === undefined ? null : now - before;
  }

  of(counter: string, value: number | null): number | null {
    if (value === null) return null;
    this.#seen.set(counter, value);
    const before = this.#state.get(counter);
    if (before === undefined || this.#elapsed === null || this.#elapsed <= 0) return null;
    return value < before ? null : (value - before) / this.#elapsed;
  }

  keep(): void {
    this.#state.clear();
    this.#state.set(AT, this.#now);
    for (const [counter, value] of this.#seen) this.#state.set(counter, value);
  }
}
