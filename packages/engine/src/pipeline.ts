import type { Workload } from "@trawler/plugin-api";
import type { Explanation } from "./explain.ts";
import type { PipelineOptions } from "./options.ts";

export class Pipeline {
  readonly #options: PipelineOptions;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** Whether the first discovery has reported all that was there. */
  get ready(): boolean {
    return false;
  }

  /** Discovers, crawls and emits until `signal` aborts; then flushes and resolves. Rejects where it cannot go on. */
  async run(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    throw new Error(`${this.#options.id} is not built yet`);
  }

  /** Crawls what is there once, emits and flushes. */
  async once(
    signal: AbortSignal,
    _filter?: (workload: Workload) => boolean,
  ): Promise<{ frames: number; problems: number }> {
    signal.throwIfAborted();
    return { frames: 0, problems: 0 };
  }

  /** By name (`shop/cart-0`) or id; null where nothing of that name was seen. */
  explain(_name: string): Explanation | null {
    return null;
  }
}
