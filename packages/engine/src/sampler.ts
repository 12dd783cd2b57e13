import type { Clock, Workload } from "@trawler/plugin-api";
import { isRunning } from "./significant.ts";

/** Milliseconds after a container's start at which its own figures are read, so that a short life leaves some. */
const SAMPLES = [250, 1000, 2000, 4000] as const;

/** Asks for samples of young containers. What was old when it was first seen is not sampled: slots see to it. */
export class Sampler {
  readonly #clock: Clock;
  readonly #sample: () => void;
  readonly #timers: Set<NodeJS.Timeout> = new Set();
  readonly #known: Set<string> = new Set();

  constructor(clock: Clock, sample: () => void) {
    this.#clock = clock;
    this.#sample = sample;
  }

  observe({ containers }: Workload): void {
    const ids = new Set(containers.map(({ id }) => id));
    for (const id of this.#known) if (!ids.has(id)) this.#known.delete(id);
    for (const { id, state } of containers) {
      if (id === null || !isRunning(state.status) || this.#known.has(id)) continue;
      this.#known.add(id);
      this.#begin(state.startedAt);
    }
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #begin(startedAt: string | null): void {
    // A start in the future, or one that is no time, is one now.
    const age = startedAt === null ? 0 : Math.max(this.#clock.now() - Date.parse(startedAt), 0) || 0;
    for (const at of SAMPLES) {
      if (at < age) continue;
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#sample();
      }, at - age);
      this.#timers.add(timer);
    }
  }
}
