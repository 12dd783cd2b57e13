import type { Clock } from "@trawler/plugin-api";
import type { Cluster } from "../cluster/cluster.ts";
import type { ObjectError } from "../cluster/types.ts";
import { Pace } from "../create/pace.ts";
import type { Journal, LogData, Sealed } from "../journal/journal.ts";
import type { Item, Run } from "../journal/record.ts";
import { titleOf } from "../report/names.ts";
import { redactor } from "../template/redact.ts";
import type { Inventory } from "../wait/types.ts";
import { WORDS } from "./words.ts";

export interface Watcher {
  /** An object came to another status. */
  item?(item: Item): void;
  /** The run came to another state. */
  run?(run: Run): void;
}

export interface ContextOptions {
  readonly cluster: Cluster;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Aborts: no new requests, those under way are awaited. */
  readonly cancel: AbortSignal;
  /** Aborts: this process leaves the run as it is, to be resumed. Whatever would change it throws from then on. */
  readonly halt?: AbortSignal;
  readonly watcher?: Watcher;
  /** A running inventory that is told of what was made. Default: there is none. */
  readonly inventory?: Inventory | null;
}

/** One run at work: what is known of it, and the only way to change that. What may be changed is in the journal first. */
export class Context {
  readonly cluster: Cluster;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly cancel: AbortSignal;
  readonly pace: Pace;
  readonly inventory: Inventory | null;
  readonly sealed: Sealed | null;
  readonly redact: (text: string) => string;
  readonly #watcher: Watcher;
  readonly #halt: AbortSignal | undefined;
  readonly #items: Item[];
  #run: Run;

  constructor(options: ContextOptions) {
    this.cluster = options.cluster;
    this.journal = options.journal;
    this.clock = options.clock;
    this.cancel = options.cancel;
    this.pace = new Pace(() => options.clock.monotonic() * 1000);
    this.inventory = options.inventory ?? null;
    this.sealed = options.journal.sealed;
    this.redact = redactor(this.sealed?.secrets ?? []);
    this.#watcher = options.watcher ?? {};
    this.#halt = options.halt;
    this.#items = [...options.journal.items];
    this.#run = options.journal.run;
  }

  get run(): Run {
    return this.#run;
  }

  /** In the order of the template. */
  get items(): readonly Item[] {
    return this.#items;
  }

  item(index: number): Item {
    const item = this.#items[index];
    if (item === undefined) throw new RangeError(`there is no object ${index}`);
    return item;
  }

  now(): string {
    return new Date(this.clock.now()).toISOString();
  }

  /** Requests to create these objects are about to be sent: the journal has that when it returns. */
  intend(items: readonly Item[]): void {
    this.#halt?.throwIfAborted();
    this.journal.intend(items.map(({ index }) => index));
  }

  set(index: number, change: Partial<Item>): void {
    this.#halt?.throwIfAborted();
    const before = this.item(index);
    const after = {
      ...before,
      ...change,
      error: this.#clean(change.error === undefined ? before.error : change.error),
    };
    this.#items[index] = after;
    if (after.status === before.status && after.ready === before.ready) {
      this.journal.writeItem(after);
      return;
    }
    const why = after.error === null ? "" : `: ${after.error.message}`;
    const text = this.redact(`${titleOf(after)}: ${wordOf(before, after)}${why}`);
    this.journal.writeItem(after, { time: this.now(), text });
    this.#watcher.item?.(after);
  }

  setRun(change: Partial<Run>): void {
    this.#halt?.throwIfAborted();
    const before = this.#run;
    // The first one stays, until a new attempt takes it back.
    const headline = change.headline === null ? null : (before.headline ?? change.headline ?? null);
    this.#run = { ...before, ...change, headline: headline === null ? null : this.redact(headline) };
    this.journal.writeRun(this.#run);
    if (this.#run.state !== before.state) {
      this.log(this.#run.state, { state: this.#run.state });
      this.#watcher.run?.(this.#run);
    }
  }

  log(text: string, data: LogData = {}): void {
    this.journal.writeLog({ time: this.now(), text: this.redact(text) }, data);
  }

  #clean(error: ObjectError | null): ObjectError | null {
    if (error === null) return null;
    const causes = error.causes.map(({ field, message }) => ({ field, message: this.redact(message) }));
    return { ...error, message: this.redact(error.message), causes };
  }
}

function wordOf(before: Item, after: Item): string {
  if (after.status === before.status && after.ready !== null) return after.ready ? "ready" : "not ready";
  return WORDS[after.status];
}
