import { Difference } from "./difference.ts";

interface Kept {
  readonly state: Map<string, number>;
  difference: Difference | undefined;
  calledAt: number | undefined;
}

/** What the engine keeps of one subject between two crawls, by member and crawler. */
export class CrawlMemory {
  readonly #targets: Map<string, Map<string, Kept>> = new Map();

  /** Numbers that a crawler keeps of one target. */
  state(crawler: string, target: string): Map<string, number> {
    return this.#kept(crawler, target).state;
  }

  /** What is kept for a crawler that works by difference. */
  difference(crawler: string, target: string): Difference {
    const kept = this.#kept(crawler, target);
    kept.difference ??= new Difference();
    return kept.difference;
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
    const kept = crawlers.get(crawler) ?? { state: new Map(), difference: undefined, calledAt: undefined };
    crawlers.set(crawler, kept);
    return kept;
  }
}
