/** What the engine keeps of one subject between two crawls, by crawler and member. */
export class CrawlMemory {
  readonly #states: Map<string, Map<string, number>> = new Map();
  readonly #calledAt: Map<string, number> = new Map();

  /** Numbers that a crawler keeps of one target. */
  state(crawler: string, target: string): Map<string, number> {
    const key = keyOf(target, crawler);
    const known = this.#states.get(key);
    if (known) return known;
    const created = new Map<string, number>();
    this.#states.set(key, created);
    return created;
  }

  /** Whether `every` seconds have passed since the last call; `slack` seconds early counts, so that a grid is met. */
  isDue(crawler: string, target: string, every: number | undefined, now: number, slack: number): boolean {
    const last = this.#calledAt.get(keyOf(target, crawler));
    return every === undefined || last === undefined || now - last >= every - slack;
  }

  called(crawler: string, target: string, now: number): void {
    this.#calledAt.set(keyOf(target, crawler), now);
  }

  /** Frees what is kept of targets that are not among these. */
  retain(targets: ReadonlySet<string>): void {
    for (const map of [this.#states, this.#calledAt]) {
      for (const key of map.keys()) if (!targets.has(key.slice(0, key.indexOf("\n")))) map.delete(key);
    }
  }

  get size(): number {
    return this.#states.size;
  }
}

function keyOf(target: string, crawler: string): string {
  return `${target}\n${crawler}`;
}
