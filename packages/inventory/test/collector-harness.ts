import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient, tokenTarget } from "@trawler/kube";
import type { Clock, Logger } from "@trawler/plugin-api";
import { type FakeApi, type FakeObject, fakeApi } from "@trawler/testkit";
import { type Collector, type CollectorOptions, kindSpec, openCollector } from "../src/index.ts";
import { type Folder, folder } from "./harness.ts";

export const PODS = "/api/v1/pods";
export const SPEC = kindSpec({ apiVersion: "v1", resource: "pods", kind: "Pod" });

export const clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() / 1000 };
export const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export function pod(
  uid: string,
  shape: { name?: string; phase?: string; exit?: number; note?: string } = {},
): FakeObject {
  const { name = uid, phase = "Running", exit, note } = shape;
  const state = exit === undefined ? { running: {} } : { terminated: { exitCode: exit, reason: "Error" } };
  return {
    metadata: { uid, name, namespace: "shop", ...(note === undefined ? {} : { annotations: { note } }) },
    spec: { nodeName: "node-a", containers: [{ name: "main", image: "busybox" }] },
    status: { phase, containerStatuses: [{ name: "main", image: "busybox", restartCount: 0, state }] },
  };
}

interface Running extends AsyncDisposable {
  readonly collector: Collector;
  /** Ends it as a stop does. */
  stop(): Promise<void>;
  /** What it ended with, once it has. */
  readonly ended: Promise<unknown>;
}

export interface Bench extends AsyncDisposable {
  readonly api: FakeApi;
  readonly folder: Folder;
  start(options?: Partial<Omit<CollectorOptions, "postgresql">>): Promise<Running>;
}

/** A fake API server and a folder; collectors are started on them one after another. */
export async function bench(setup: (api: FakeApi) => void = () => {}): Promise<Bench> {
  const api = await fakeApi();
  setup(api);
  const place = folder();
  const running: Running[] = [];
  return {
    api,
    folder: place,
    start: async (options = {}) => {
      const tokenFile = place.file("token");
      const token = existsSync(tokenFile) ? { tokenFile } : {};
      const client = createApiClient({ target: tokenTarget({ server: api.url, ...token }) });
      const collector = await openCollector({
        client,
        clock,
        log: quiet,
        cluster: "test",
        folder: place.path,
        kinds: [SPEC],
        token: 0,
        flushMilliseconds: 10,
        flushEvents: 500,
        flushBytes: 4 * 1024 * 1024,
        queueBytes: 1024 ** 3,
        retention: { days: 180, rows: 1_000_000 },
        ...options,
        // Waits are kept short, whatever the backoff says.
        tuning: { sleep: (milliseconds, signal) => pause(Math.min(milliseconds, 5), signal), ...options.tuning },
      });
      const stopping = new AbortController();
      const ended = collector.run(stopping.signal).then(
        () => null,
        (error: unknown) => error,
      );
      let over: Promise<void> | null = null;
      const one: Running = {
        collector,
        ended,
        stop: () => {
          over ??= (async () => {
            stopping.abort();
            await ended;
            await collector[Symbol.asyncDispose]();
            client[Symbol.dispose]();
          })();
          return over;
        },
        [Symbol.asyncDispose]: () => one.stop(),
      };
      running.push(one);
      return one;
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of running) await one.stop();
      await api[Symbol.asyncDispose]();
      place[Symbol.dispose]();
    },
  };
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** Polls until it holds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const end = performance.now() + 30_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited for ${what}`);
    await delay(5);
  }
}

/** `b gone watch exact`, `c live`: all pods that are known, by UID. */
export function known({ store }: Collector): readonly string[] {
  const { records } = store.query({ kind: "Pod", between: [0, Number.MAX_SAFE_INTEGER], limit: 100_000 });
  return records
    .map(({ uid, end }) => (end === null ? `${uid} live` : `${uid} gone ${end.evidence} ${end.finalState}`))
    .sort();
}

export function lists({ requests }: FakeApi): number {
  return requests.filter(({ verb, query }) => verb === "list" && !query.has("continue")).length;
}

export function watches({ requests }: FakeApi): number {
  return requests.filter(({ verb }) => verb === "watch").length;
}
