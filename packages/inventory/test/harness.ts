import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type InventoryEvent, type ObjectEvent, openStore, type QueuedEvent, type Store } from "../src/index.ts";

export interface Folder extends Disposable {
  readonly path: string;
  file(name: string): string;
}

export function folder(): Folder {
  const path = mkdtempSync(join(tmpdir(), "trawler-inventory-"));
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

export interface PodShape {
  readonly name?: string;
  readonly node?: string | null;
  readonly phase?: string;
  readonly exit?: number;
  readonly restarts?: number;
  readonly id?: string;
  readonly owner?: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly env?: readonly unknown[];
  readonly createdAt?: string;
}

/** A pod with one container `main`, which runs, or has ended with an exit code. */
export function pod(uid: string, version: number | string, shape: PodShape = {}): Readonly<Record<string, unknown>> {
  const { exit, restarts = 0, owner, id = `${uid}-${restarts}` } = shape;
  const state =
    exit === undefined
      ? { running: { startedAt: "2026-01-01T00:00:01Z" } }
      : {
          terminated: {
            exitCode: exit,
            reason: exit === 0 ? "Completed" : "Error",
            startedAt: "2026-01-01T00:00:01Z",
            finishedAt: "2026-01-01T00:00:03Z",
          },
        };
  return {
    kind: "Pod",
    metadata: {
      uid,
      name: shape.name ?? uid,
      namespace: "shop",
      resourceVersion: String(version),
      creationTimestamp: shape.createdAt ?? "2026-01-01T00:00:00Z",
      ...(owner === undefined ? {} : { ownerReferences: [{ apiVersion: "v1", ...owner, controller: true }] }),
      ...shape.metadata,
    },
    spec: {
      ...(shape.node === null ? {} : { nodeName: shape.node ?? "node-a" }),
      containers: [{ name: "main", image: "busybox", ...(shape.env === undefined ? {} : { env: shape.env }) }],
    },
    status: {
      phase: shape.phase ?? "Running",
      containerStatuses: [
        { name: "main", containerID: `containerd://${id}`, image: "busybox", restartCount: restarts, state },
      ],
    },
  };
}

export function bytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
}

export function object(
  type: ObjectEvent["type"],
  uid: string,
  version: number | string,
  shape: PodShape & Partial<Omit<ObjectEvent, "type" | "uid">> = {},
): ObjectEvent {
  return {
    type,
    uid,
    stream: shape.stream ?? "pods",
    kind: shape.kind ?? "Pod",
    epoch: shape.epoch ?? 0,
    receivedAt: shape.receivedAt ?? 1_800_000_000_000 + Number(version),
    resourceVersion: shape.resourceVersion === undefined ? String(version) : shape.resourceVersion,
    payload: shape.payload ?? bytes(pod(uid, version, shape)),
    ...(shape.truncated === undefined ? {} : { truncated: shape.truncated }),
  };
}

export function absent(uid: string, version: number | string, from: number, to: number, epoch = 0): InventoryEvent {
  return {
    type: "absent",
    stream: "pods",
    kind: "Pod",
    uid,
    epoch,
    receivedAt: to,
    resourceVersion: String(version),
    notBefore: from,
    notAfter: to,
  };
}

export interface Ledger extends AsyncDisposable {
  readonly store: Store;
  /** Applies events as one batch, in order. */
  apply(...events: readonly InventoryEvent[]): Promise<void>;
  /** As a restart does. */
  reopen(): Promise<void>;
}

/** An empty store that is given batches directly. */
export type OpenLedger = () => Promise<Ledger>;

export async function makeLedger(open: () => Promise<Store>, end: () => void): Promise<Ledger> {
  let store = await open();
  let sequence = 0;
  return {
    get store() {
      return store;
    },
    apply: async (...events) => {
      const queued: QueuedEvent[] = events.map((event) => {
        sequence += 1;
        return { sequence, event };
      });
      await store.apply({ queue: "q", events: queued, token: 0 });
    },
    reopen: async () => {
      await store[Symbol.asyncDispose]();
      store = await open();
    },
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      end();
    },
  };
}

export function sqliteLedger(): Promise<Ledger> {
  const place = folder();
  return makeLedger(
    async () => openStore(place.file("store.db"), "test"),
    () => place[Symbol.dispose](),
  );
}
