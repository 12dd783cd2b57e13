import { FAILURES, type Failure } from "./outcome.ts";

/** Where a status page is. */
export interface Place {
  readonly port: number;
  readonly path: string;
}

/** Seconds between two rounds of looking for the page: each request stands in the user's access log. */
const ROUND_INTERVAL = 300;

const PLACE = "place ";
const MISSED = "missed ";
const ROUND = "round";

/** What is remembered of one member, in the numbers that `CrawlContext.state` holds: three at most. */
export class Memory {
  readonly #state: Map<string, number>;

  constructor(state: Map<string, number>) {
    this.#state = state;
  }

  /** Where the page was found in the last round. */
  get place(): Place | null {
    const [path, port] = this.#entry(PLACE);
    return path === undefined || port === undefined ? null : { path, port };
  }

  /** Why nothing was found in the last round. */
  get missed(): Failure | null {
    const [text, port] = this.#entry(MISSED);
    const state = FAILURES.find((name) => text?.startsWith(`${name} `));
    if (text === undefined || port === undefined || state === undefined) return null;
    return { state, reason: text.slice(state.length + 1), port };
  }

  /** Whether a new round may be made. */
  isDue(monotonic: number): boolean {
    const last = this.#state.get(ROUND);
    return last === undefined || monotonic - last >= ROUND_INTERVAL;
  }

  endRound(monotonic: number, result: Place | Failure): void {
    this.#state.clear();
    this.#state.set(ROUND, monotonic);
    if ("path" in result) this.#state.set(PLACE + result.path, result.port);
    else this.#state.set(`${MISSED}${result.state} ${result.reason}`, result.port);
  }

  #entry(prefix: string): readonly [string, number] | readonly [] {
    for (const [key, value] of this.#state) if (key.startsWith(prefix)) return [key.slice(prefix.length), value];
    return [];
  }
}
