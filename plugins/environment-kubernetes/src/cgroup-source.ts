import { type PodRecord, podKey, runtimePodOf, sleep } from "@trawler/kube";
import type { Clock } from "@trawler/plugin-api";
import type { CgroupFinder } from "./cgroups.ts";
import type { PodTable } from "./table.ts";

export interface CgroupSourceOptions {
  readonly table: PodTable;
  readonly finder: CgroupFinder;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** After each look at the tree. */
  readonly onLooked: () => void;
}

/** Milliseconds: a change of the API is looked at after the first, and all pods at least after each second. */
const SOON = 100;
const INTERVAL = 10_000;
/** A container that the API calls running and that has no cgroup yet is looked for so often at the short distance. */
const RETRIES = 20;

/** Makes runtime views of the API's records and the cgroup tree, where no runtime socket opens. */
export class CgroupSource {
  readonly #options: CgroupSourceOptions;
  readonly #records = new Map<string, PodRecord>();
  #changed = new Set<string>();
  #wake: (() => void) | null = null;

  constructor(options: CgroupSourceOptions) {
    this.#options = options;
  }

  record(record: PodRecord): void {
    const key = podKey(record);
    this.#records.set(key, record);
    this.#changed.add(key);
    this.#wake?.();
  }

  gone(record: PodRecord): void {
    const key = podKey(record);
    this.#records.delete(key);
    const { table, clock } = this.#options;
    table.runtimeGone(runtimePodOf(record, null, new Date(clock.now()).toISOString()));
  }

  /** Looks again soon. */
  wake(): void {
    this.#wake?.();
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    let retries = 0;
    while (!signal.aborted) {
      const changed = this.#changed;
      this.#changed = new Set();
      const young = this.#look(changed.size > 0 ? changed : new Set(this.#records.keys()));
      retries = young ? retries + 1 : 0;
      if (young && retries <= RETRIES) await this.#pause(SOON * 2);
      else if (this.#changed.size === 0) await this.#pause(INTERVAL);
      // More of a burst is taken at once.
      if (this.#changed.size > 0) await this.#pause(SOON, false);
    }
  }

  /** Whether a running container was not found. */
  #look(keys: ReadonlySet<string>): boolean {
    const { table, finder, clock, onLooked } = this.#options;
    const observedAt = new Date(clock.now()).toISOString();
    let young = false;
    for (const key of keys) {
      const record = this.#records.get(key);
      if (record === undefined) continue;
      const ids = record.statuses.flatMap(({ id, status }) => (id === null || status !== "running" ? [] : [id]));
      const pod = runtimePodOf(record, finder.find(key, ids), observedAt);
      young ||= pod.containers.some(({ state, pid }) => state === "running" && pid === null);
      table.setRuntime(pod);
    }
    onLooked();
    return young;
  }

  async #pause(milliseconds: number, wakeable = true): Promise<void> {
    const wake = new AbortController();
    if (wakeable) this.#wake = () => wake.abort();
    await sleep(milliseconds, AbortSignal.any([this.#options.signal, wake.signal]));
    this.#wake = null;
  }
}
