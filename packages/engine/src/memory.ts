interface Kept {
  readonly state: Map<string, number>;
  calledAt: number | undefined;
}

/** What the engine keeps of one subject between two crawls, by member and crawler. */
export class CrawlMemory {
  readonly #targets: Map<string, Map<string, Kept>> = new Map();

  /** Numbers that a crawler keeps of one target. */
  state(crawler: string, target: string): Map<string, number> {
    return this.#kept(crawler, target).state;
  }

  /** Whether `every` seconds have passed since the last call; `slack` seconds early counts, so that a grid is met. */
  isDue(crawler: string, target: string, every: number, now: number, slack: number): boolean {
    const last = this.#kept(crawler, target).calledAt;
    return last === undefined || now - last >= every - slack;
  }

  called(crawler: string, target: string, now: number): void {
    this.#kept(crawler, target).calledAt = now;
  }

  /** Frees what is kept of targets that are not among these. */
  retain(targets: readonly { readonly id: string }[]): void {
    for (const target of this.#targets.keys()) {
      if (!targets.some(({ id }) => id === target)) this.#targets.delete(target);
    }
  }

  /** Targets of which something is kept. */
  get size(): number {
    return this.#targets.size;
  }

  #kept(crawler: string, target: string): Kept {
    const crawlers = this.#targets.get(target) ?? new Map<string, Kept>();
    this.#targets.set(target, crawlers);
    const kept = crawlers.get(crawler) ?? { state: new Map(), calledAt: undefined };
    crawlers.set(crawler, kept);
    return kept;
  }
}
