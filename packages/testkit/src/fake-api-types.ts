import type { IncomingMessage } from "node:http";

/** A Kubernetes object, loosely. */
export interface FakeObject {
  readonly kind?: string;
  readonly metadata: Readonly<Record<string, unknown>> & { readonly uid: string; readonly name: string };
  readonly [field: string]: unknown;
}

export interface FakeRequest {
  readonly verb: "list" | "watch" | "get";
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
}

/** An open watch that a test writes into. */
export interface FakeStream {
  event(type: string, object: unknown): void;
  bytes(bytes: Uint8Array | string): void;
  /** Ends as a server's timeout does. */
  end(): void;
  /** Cuts the connection as a crash does. */
  reset(): void;
}

/** Something goes wrong once in `every` events, on the average; the same for the same seed. */
export interface FakeChaos {
  readonly seed: number;
  readonly every: number;
}

/** What was ever put on the wire of an object: whoever listens must know no less. */
export interface FakeTold {
  readonly first: bigint;
  readonly last: bigint;
  readonly deleted: boolean;
}

/** What a fault answers instead of the model. */
export type FakeAnswer =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly stream: (stream: FakeStream) => void }
  | { readonly reset: true }
  | { readonly mute: true };

export interface FakeApiOptions {
  /** Serves HTTPS with these. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The bearer token that is asked for; any other gets 401. */
  readonly token?: string;
  /** Sends whole lists whatever `limit` says. */
  readonly ignoreLimit?: boolean;
  readonly resourceVersion?: bigint;
}

/**
 * A fake API server for list, watch and get, with faults on order: nothing else behaves like it does when it fails.
 * A collection is named by its path; every object in it by its UID.
 */
export interface FakeApi extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly FakeRequest[];
  readonly sockets: { readonly open: number; readonly peak: number };
  readonly openWatches: number;
  /** By UID. What a fault put there itself, and what had no watcher, is not among it. */
  readonly told: ReadonlyMap<string, FakeTold>;
  resourceVersion: bigint;
  token: string | null;
  /** What becomes of `sendInitialEvents`: a list as a stream, 422 as of a server without it, or one that never ends. */
  streamingList: "served" | "refused" | "endless";
  /** Asked for each request first; undefined = the model answers. */
  fault: ((request: FakeRequest) => FakeAnswer | undefined) | null;
  /** Breaks and mutes watches and refuses requests by chance, on top of `fault`; null ends it. */
  chaos: FakeChaos | null;
  /** Adds or changes an object, gives it a version and tells the watchers. */
  put(collection: string, object: FakeObject): void;
  delete(collection: string, uid: string): void;
  /** Changes the objects without telling a watcher and without history: what happens in a gap. */
  silently(change: () => void): void;
  bookmark(): void;
  /** Forgets history: watches from an earlier version get 410. */
  compact(): void;
  breakWatches(how: "end" | "reset"): void;
  /** Refuses connections from now on; `start` takes the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}
