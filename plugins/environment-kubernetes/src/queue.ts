import type { Workload, WorkloadEvent } from "@trawler/plugin-api";

interface Pending {
  /** Null where nothing but the removal is left to tell. */
  readonly workload: Workload | null;
  readonly removed: boolean;
  /** It was removed because the settings no longer want it. */
  readonly unselected: boolean;
}

/**
 * Holds at most one entry for each pod between those who learn something and the one iterator: a newer state takes the
 * place of an older one that was not read yet. A state that ends a pod is told before its removal, so no exit is lost.
 */
export class EventQueue {
  /** Workload id to what was last told. */
  readonly #told = new Map<string, Workload>();
  readonly #pending = new Map<string, Pending>();
  #synced: "no" | "due" | "told" = "no";
  #wake: (() => void) | null = null;

  put(workload: Workload): void {
    const { id } = workload;
    const pending = this.#pending.get(id);
    // Same place in the queue: one pod that changes all the time must not hold back the others.
    this.#pending.set(id, { workload, removed: false, unselected: false });
    if (pending === undefined) this.#notify();
  }

  /** The pod and its record have gone. */
  remove(id: string): void {
    this.#remove(id, false);
  }

  /** The pod lives on, and the settings no longer want it. */
  unselect(id: string): void {
    this.#remove(id, true);
  }

  /** All that existed at the start has been put. */
  synced(): void {
    if (this.#synced === "no") this.#synced = "due";
    this.#notify();
  }

  /** Events in order until the signal aborts. One iterator at a time. */
  async *events(signal: AbortSignal): AsyncGenerator<WorkloadEvent> {
    const stop = (): void => this.#notify();
    signal.addEventListener("abort", stop);
    try {
      while (!signal.aborted) {
        const [first] = this.#pending;
        if (first !== undefined) {
          this.#pending.delete(first[0]);
          yield* this.#tell(first[0], first[1]);
        } else if (this.#synced === "due") {
          this.#synced = "told";
          yield { type: "synced" };
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #remove(id: string, unselected: boolean): void {
    const pending = this.#pending.get(id);
    if (pending === undefined && !this.#told.has(id)) return;
    this.#pending.set(id, { workload: pending?.workload ?? null, removed: true, unselected });
    if (pending === undefined) this.#notify();
  }

  *#tell(id: string, { workload, removed, unselected }: Pending): Generator<WorkloadEvent> {
    if (workload !== null) {
      const type = this.#told.has(id) ? "updated" : "added";
      this.#told.set(id, workload);
      yield { type, workload };
    }
    const last = this.#told.get(id);
    if (!removed || last === undefined) return;
    this.#told.delete(id);
    yield { type: "removed", workload: last, ...(unselected ? { unselected } : {}) };
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = null;
  }
}
