import type { NodeInfo, Workload, WorkloadEvent } from "@trawler/plugin-api";
import type { Config } from "./config.ts";
import type { Facts } from "./facts.ts";
import { isSandbox } from "./sandbox.ts";
import { isWanted } from "./select.ts";
import { sharedWith, toWorkload } from "./workload.ts";

interface Entry {
  facts: Facts;
  observedAt: string;
  mayRestart: boolean;
  /** As it was last reported; null while it is not. */
  reported: { readonly workload: Workload; readonly print: string } | null;
}

export interface DirectoryOptions {
  readonly node: Pick<NodeInfo, "name" | "cluster">;
  readonly config: Pick<Config, "include" | "exclude" | "sandboxImages">;
  /** Name of the engine: `docker`, `podman`. */
  readonly engine: () => string;
  readonly report: (event: WorkloadEvent) => void;
}

/**
 * All containers of the engine, and what was reported of them: each once as added, as updated only where something of it
 * differs, once as removed. Sandboxes and what the settings leave out are kept for their networks and never reported.
 */
export class Directory {
  readonly #options: DirectoryOptions;
  readonly #entries: Map<string, Entry> = new Map();

  constructor(options: DirectoryOptions) {
    this.#options = options;
  }

  ids(): readonly string[] {
    return [...this.#entries.keys()];
  }

  facts(id: string): Facts | undefined {
    return this.#entries.get(id)?.facts;
  }

  /** Takes in what is now known of a container. `mayRestart`: it stopped a moment ago. */
  put(facts: Facts, observedAt: string, mayRestart: boolean): void {
    const before = this.#entries.get(facts.id);
    const wasOver = before?.reported?.workload.lifecycle === "ended";
    // Once ended is for ever: a container that is started again is a new one under its old id.
    if (before !== undefined && wasOver && !facts.ended) this.remove(facts.id);
    const kept = { facts: withLastTermination(facts, before?.facts), observedAt, mayRestart };
    const known = this.#entries.get(facts.id);
    if (known === undefined) this.#entries.set(facts.id, { ...kept, reported: null });
    else Object.assign(known, kept);
    this.#reportAll(facts);
  }

  /** The engine has it no more. */
  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    this.#retract(entry, false);
    this.#reportAll(entry.facts);
  }

  /** The container itself, and those that share its network. */
  #reportAll(changed: Facts): void {
    const own = this.#entries.get(changed.id);
    if (own !== undefined) this.#report(own);
    for (const entry of this.#entries.values()) {
      const owner = sharedWith(entry.facts.networkMode);
      if (owner === changed.id || owner === changed.name) this.#report(entry);
    }
  }

  #report(entry: Entry): void {
    const { facts, reported } = entry;
    const { node, config, report, engine } = this.#options;
    if (isSandbox(facts.labels, facts.image, config.sandboxImages) || !isWanted(config, facts)) {
      this.#retract(entry, true);
      return;
    }
    const workload = toWorkload(facts, { ...entry, node, engine: engine(), find: (idOrName) => this.#find(idOrName) });
    const print = fingerprint(workload);
    if (print === reported?.print) return;
    entry.reported = { workload, print };
    report({ type: reported === null ? "added" : "updated", workload });
  }

  #retract(entry: Entry, unselected: boolean): void {
    if (entry.reported === null) return;
    const { workload } = entry.reported;
    this.#options.report({ type: "removed", workload, ...(unselected ? { unselected } : {}) });
    entry.reported = null;
  }

  #find(idOrName: string): Facts | undefined {
    const byId = this.#entries.get(idOrName);
    if (byId !== undefined) return byId.facts;
    for (const { facts } of this.#entries.values()) {
      if (facts.name === idOrName || (idOrName.length >= 12 && facts.id.startsWith(idOrName))) return facts;
    }
    return undefined;
  }
}

/** The engine forgets how the run before ended as soon as the next one begins. */
function withLastTermination(facts: Facts, before: Facts | undefined): Facts {
  const { state } = facts;
  if (facts.ended || before === undefined) return facts;
  const old = before.state;
  const last = before.ended
    ? { reason: old.reason, exitCode: old.exitCode, startedAt: old.startedAt, finishedAt: old.finishedAt }
    : old.lastTermination;
  if (last === null || (state.lastTermination?.exitCode ?? null) !== null) return facts;
  if (state.lastTermination !== null && state.lastTermination.finishedAt !== last.finishedAt) return facts;
  return { ...facts, state: { ...state, lastTermination: last } };
}

/** All that an update is about: not when it was seen. */
function fingerprint({ metadata, ...workload }: Workload): string {
  // An image never changes under its id, and what is said of it is long.
  const short = (key: string, value: unknown): unknown => (key === "imageInspection" ? value !== null : value);
  return JSON.stringify([workload, metadata.reason], short);
}
