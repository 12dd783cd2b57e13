import {
  type ApiClient,
  type Away,
  createOwnerResolver,
  createReflector,
  type OwnerFacts,
  type OwnerResolver,
  type PodRecord,
  parsePod,
} from "@trawler/kube";
import type { Clock, Logger } from "@trawler/plugin-api";

/** Who is told what the API server says. Called in order, synchronously. */
export interface ApiSink {
  record(record: PodRecord, observedAt: number): void;
  deleted(record: PodRecord, observedAt: number): void;
  synced(): void;
  away(since: number, reason: string): void;
  back(): void;
  /** What is known of an owner has changed. */
  owner(uid: string): void;
}

export interface ApiSourceOptions {
  readonly client: ApiClient;
  readonly node: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One list and one watch of this node's pods, and one GET for each of their owners. */
export class ApiSource {
  readonly #options: ApiSourceOptions;
  readonly #owners: OwnerResolver;
  #sink: ApiSink | null = null;

  constructor(options: ApiSourceOptions) {
    this.#options = options;
    const { client, clock } = options;
    this.#owners = createOwnerResolver({ client, clock, changed: (uid) => this.#sink?.owner(uid) });
  }

  owner(record: PodRecord): OwnerFacts {
    return this.#owners.facts(record);
  }

  /** Owners that are still asked for. */
  get pending(): number {
    return this.#owners.snapshot().pending;
  }

  async run(sink: ApiSink, signal: AbortSignal): Promise<void> {
    this.#sink = sink;
    const { client, clock, log, node } = this.#options;
    const reflector = createReflector<PodRecord>({
      client,
      clock,
      path: "/api/v1/pods",
      resource: "pods",
      fieldSelector: `spec.nodeName=${node}`,
      transform: parsePod,
      handler: {
        added: (record, observedAt) => sink.record(record, observedAt),
        updated: (record, observedAt) => sink.record(record, observedAt),
        removed: (record, { notAfter }) => sink.deleted(record, notAfter),
        synced: () => sink.synced(),
        away: (away: Away) => {
          log.warn({ code: away.code }, `the API server is away: ${away.reason}`);
          sink.away(away.since, away.reason);
        },
        back: () => {
          log.info({}, "the API server is back");
          sink.back();
        },
      },
    });
    await Promise.all([reflector.run(signal), this.#owners.run(signal)]);
  }
}
