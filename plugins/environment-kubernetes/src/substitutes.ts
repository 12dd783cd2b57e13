import { type DownwardFiles, followKubeletPods, parsePod, readDownward, sleep } from "@trawler/kube";
import type { Clock, Logger } from "@trawler/plugin-api";
import type { PodTable } from "./table.ts";

export interface SubstitutesOptions {
  readonly table: PodTable;
  /** Sockets of the kubelet's Pods API to try. */
  readonly podsApi: readonly string[];
  readonly kubeletRoot: string;
  /** Null where the node's files are not to be read. */
  readonly files: DownwardFiles | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Milliseconds between two readings of the files; default 30,000. */
  readonly interval?: number;
}

/** Pods that have just begun are read sooner than the interval. */
const STEP = 1_000;

/**
 * What stands in for the API server while it is away: the kubelet's Pods API, and the downward API files of pods that
 * run. Nothing of it is read while the API server answers.
 */
export class Substitutes {
  readonly #options: SubstitutesOptions;
  #stop: AbortController | null = null;

  constructor(options: SubstitutesOptions) {
    this.#options = options;
  }

  begin(): void {
    if (this.#stop !== null || this.#options.signal.aborted) return;
    this.#stop = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, this.#options.signal]);
    for (const socket of this.#options.podsApi) void this.#followKubelet(socket, signal);
    void this.#readFiles(signal);
  }

  end(): void {
    this.#stop?.abort();
    this.#stop = null;
    this.#options.table.clearSubstitutes();
  }

  #followKubelet(socket: string, signal: AbortSignal): Promise<void> {
    const { table, clock, log } = this.#options;
    return followKubeletPods({
      socket,
      signal,
      handler: {
        pod: (pod) => {
          const record = parsePod(pod);
          if (record !== null) table.kubeletRecord(record, clock.now());
        },
        gone: (uid) => table.kubeletGone(uid),
        synced: () => log.info({ socket }, "the kubelet's Pods API stands in for the API server"),
        away: (code, reason) => log.debug({ socket, code }, `no Pods API: ${reason}`),
      },
    });
  }

  async #readFiles(signal: AbortSignal): Promise<void> {
    const { table, files, kubeletRoot, clock, log, interval = 30_000 } = this.#options;
    if (files === null) return;
    /** Pod to when its files were read last, in monotonic seconds. */
    let readAt = new Map<string, number>();
    while (!signal.aborted) {
      const now = clock.monotonic();
      const next = new Map<string, number>();
      for (const { key, items } of table.running()) {
        const last = readAt.get(key);
        next.set(key, last ?? now);
        if (signal.aborted || (last !== undefined && now - last < interval / 1000)) continue;
        next.set(key, now);
        try {
          const facts = await readDownward(files, { kubeletRoot, podUid: key, items, signal });
          const { labels, annotations, malformed } = facts;
          if (malformed > 0) log.debug({ pod: key, malformed }, "lines of downward API files are malformed");
          if (labels === null && annotations === null) continue;
          table.setDownward(key, { labels, annotations, observedAt: new Date(clock.now()).toISOString() });
        } catch {
          // The signal: nothing else is thrown.
          return;
        }
      }
      readAt = next;
      await sleep(STEP, signal);
    }
  }
}
