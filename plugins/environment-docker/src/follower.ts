import type { Clock, Logger, NodeInfo, WorkloadEvent } from "@trawler/plugin-api";
import { errorMessage } from "@trawler/plugin-api";
import { Channel } from "./channel.ts";
import type { DockerClient } from "./client.ts";
import type { Config } from "./config.ts";
import { Directory } from "./directory.ts";
import { type DockerEvent, factsOfEvent, stoppedBy } from "./event.ts";
import { type Facts, pickName, readFacts } from "./facts.ts";
import { Related } from "./related.ts";
import { record, text } from "./value.ts";

export interface FollowerOptions {
  readonly client: DockerClient;
  readonly config: Config;
  readonly node: NodeInfo;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Containers that are inspected at once: one that hangs does not hold up the others. */
const CONCURRENCY = 8;
/** Milliseconds for which a container that stopped may be about to start again, as `docker restart` does. */
const RESTART_GRACE = 1_000;

/**
 * Turns hints (an event, a difference in the list) into what is so: a container that was hinted at is inspected, at most
 * once at a time, and again where a hint came meanwhile. So a flood of events costs no more than there are containers.
 */
export class Follower {
  readonly events: Channel<WorkloadEvent> = new Channel();
  readonly #options: FollowerOptions;
  readonly #directory: Directory;
  readonly #related: Related;
  /** To be inspected, with the last event that told so. */
  readonly #due: Map<string, DockerEvent | null> = new Map();
  /** Being inspected, with the event that told so. */
  readonly #busy: Map<string, DockerEvent | null> = new Map();
  /** Destroyed while it was inspected: the answer is old. */
  readonly #dropped: Set<string> = new Set();
  readonly #timers: Map<string, NodeJS.Timeout> = new Map();
  readonly #idle: (() => void)[] = [];
  #closed = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#directory = new Directory({
      ...options,
      engine: () => options.client.engine,
      report: (event) => this.events.push(event),
    });
    this.#related = new Related(options);
  }

  /** Something was told of a container. */
  hint(event: DockerEvent): void {
    const { id, action } = event;
    if (action === "destroy") {
      this.#destroyed(event);
      return;
    }
    const known = this.#directory.facts(id);
    // Told at once: by the time it is inspected it may have been removed.
    if (action === "die" && known !== undefined && !known.ended) this.#put(stoppedBy(event, known), true);
    this.#enqueue(id, event);
  }

  /**
   * Compares the short list with what is known and inspects what differs, or everything where `all` is asked for.
   * Resolves when that is done.
   */
  async compare(all: boolean): Promise<number> {
    const { client, signal } = this.#options;
    const listed = (await client.list(signal)).map(record);
    const ids = new Set(listed.flatMap((one) => text(one["Id"]) ?? []));
    let differences = 0;
    for (const id of this.#directory.ids()) {
      if (ids.has(id)) continue;
      differences += 1;
      this.#remove(id);
    }
    for (const one of listed) {
      const id = text(one["Id"]);
      if (id === null) continue;
      const differs = !isAsKnown(one, this.#directory.facts(id));
      if (differs) differences += 1;
      if (differs || all) this.#enqueue(id, null);
    }
    await this.#settled();
    return differences;
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#due.clear();
    this.events.end();
    this.#wake();
  }

  #destroyed(event: DockerEvent): void {
    const { id } = event;
    const told = this.#due.get(id) ?? this.#busy.get(id);
    // It came and went between two looks: its events are all that is known of it.
    if (this.#directory.facts(id) === undefined && told !== undefined && told !== null) {
      this.#put(factsOfEvent(told.action === "die" ? told : event), false);
    }
    this.#remove(id);
  }

  #remove(id: string): void {
    this.#due.delete(id);
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (this.#busy.has(id)) this.#dropped.add(id);
    this.#directory.remove(id);
  }

  #enqueue(id: string, event: DockerEvent | null): void {
    const before = this.#due.get(id);
    // How it died says more than what came after.
    this.#due.set(id, before?.action === "die" && event?.action !== "start" ? before : event);
    this.#pump();
  }

  #pump(): void {
    if (this.#closed) return;
    for (const [id, event] of this.#due) {
      if (this.#busy.size >= CONCURRENCY) return;
      if (this.#busy.has(id)) continue;
      this.#due.delete(id);
      this.#busy.set(id, event);
      void this.#inspect(id, event).finally(() => {
        this.#busy.delete(id);
        this.#dropped.delete(id);
        this.#pump();
        if (this.#busy.size === 0 && this.#due.size === 0) this.#wake();
      });
    }
  }

  #settled(): Promise<void> {
    if (this.#closed || (this.#busy.size === 0 && this.#due.size === 0)) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idle.push(resolve);
    return promise;
  }

  #wake(): void {
    for (const wake of this.#idle.splice(0)) wake();
  }

  async #inspect(id: string, event: DockerEvent | null): Promise<void> {
    const { client, log, signal } = this.#options;
    try {
      const read = readFacts(await client.inspect(id, signal));
      const facts = read === null ? null : await this.#related.complete(read);
      if (this.#closed || this.#dropped.has(id)) return;
      // Of one that was never seen to run, the end is told as it is: should it start again, that is another run.
      const mayRestart = this.#directory.facts(id) !== undefined;
      if (facts !== null) this.#put(facts, mayRestart && facts.ended && isFresh(facts, this.#options.clock));
      else if (event !== null && this.#directory.facts(id) === undefined) this.#put(factsOfEvent(event), false);
      else log.debug({ container: id }, "a container went away before it could be inspected");
    } catch (error) {
      if (!this.#closed) log.warn({ container: id }, `a container could not be inspected: ${errorMessage(error)}`);
    }
  }

  #put(facts: Facts, mayRestart: boolean): void {
    const observedAt = new Date(this.#options.clock.now()).toISOString();
    this.#directory.put(facts, observedAt, mayRestart);
    clearTimeout(this.#timers.get(facts.id));
    this.#timers.delete(facts.id);
    if (!mayRestart) return;
    const look = setTimeout(() => {
      this.#timers.delete(facts.id);
      const now = this.#directory.facts(facts.id);
      if (now?.ended === true) this.#put(now, false);
    }, RESTART_GRACE);
    this.#timers.set(facts.id, look);
  }
}

/** Whether the short form says what is known already. */
function isAsKnown(listed: Readonly<Record<string, unknown>>, known: Facts | undefined): boolean {
  if (known === undefined) return false;
  const name = pickName(listed["Names"]);
  return (name === null || name === known.name) && isState(text(listed["State"]), known);
}

function isState(state: string | null, { state: known, ended }: Facts): boolean {
  switch (state) {
    case "running":
    case "paused":
      return known.status === state;
    case "created":
    case "restarting":
    case "configured":
    case "initialized":
      return known.status === "waiting";
    case null:
      return true;
    default:
      return ended;
  }
}

/** Stopped so short a time ago that it may be on its way up again. */
function isFresh({ state }: Facts, clock: Clock): boolean {
  if (state.finishedAt === null) return false;
  const age = clock.now() - Date.parse(state.finishedAt);
  return age >= 0 && age < RESTART_GRACE;
}
