import { createApiClient, type DownwardFiles, type PodCgroup, tokenTarget } from "@trawler/kube";
import type { PluginHost, Workload, WorkloadEvent } from "@trawler/plugin-api";
import { type FakeApi, type FakeObject, fakeApi, fakeHost, silentLog } from "@trawler/testkit";
import { expect } from "vitest";
import { type Config, config } from "../src/config.ts";
import { KubernetesEnvironment } from "../src/environment.ts";
import type { World } from "../src/world.ts";
import { FakeRuntime } from "./fake-runtime.ts";

export const PODS = "/api/v1/pods";

/** What a test has under its hands: a runtime, an API server, files, cgroups. */
export interface Scene extends AsyncDisposable {
  readonly runtime: FakeRuntime;
  readonly api: FakeApi;
  readonly files: Map<string, string>;
  readonly cgroups: Map<string, PodCgroup>;
  readonly host: PluginHost;
  world(): World;
}

export async function openScene(options: { readonly api?: boolean } = {}): Promise<Scene> {
  const runtime = new FakeRuntime();
  const api = await fakeApi();
  const files = new Map<string, string>();
  const cgroups = new Map<string, PodCgroup>();
  const close = { [Symbol.asyncDispose]: async () => {} };
  const downward: DownwardFiles = {
    readText: async (path) => files.get(path) ?? Promise.reject(Object.assign(new Error("absent"), { code: "ENOENT" })),
    list: async () => [],
  };
  return {
    runtime,
    api,
    files,
    cgroups,
    host: fakeHost({ clock: { now: Date.now, monotonic: () => performance.now() / 1000 } }),
    world: () => ({
      openRuntime: runtime.open,
      api: options.api === false ? null : createApiClient({ target: tokenTarget({ server: api.url }) }),
      withoutApi: "switched off",
      podsApi: [],
      cgroups: () => ({ find: (uid) => cgroups.get(uid) ?? null }),
      openFiles: async () => ({ ...downward, ...close }),
    }),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

export interface Watching extends AsyncDisposable {
  readonly environment: KubernetesEnvironment;
  readonly events: readonly WorkloadEvent[];
  of(id: string): readonly Workload[];
  last(id: string): Workload | undefined;
  removed(): readonly string[];
  synced(): Promise<void>;
}

/** Runs discovery over a scene and keeps what it reports. */
export async function watchScene(scene: Scene, settings: unknown = {}): Promise<Watching> {
  const parsed: Config = config.parse(settings);
  const environment = new KubernetesEnvironment(parsed, scene.host, scene.world());
  const stop = new AbortController();
  const events: WorkloadEvent[] = [];
  const done = (async () => {
    for await (const event of environment.discover({ signal: stop.signal, log: silentLog })) events.push(event);
  })();
  const of = (id: string): readonly Workload[] =>
    events.flatMap((event) => (event.type !== "synced" && event.workload.id === id ? [event.workload] : []));
  return {
    environment,
    events,
    of,
    last: (id) => of(id).at(-1),
    removed: () => events.flatMap((event) => (event.type === "removed" ? [event.workload.id] : [])),
    synced: () => expect.poll(() => events.some(({ type }) => type === "synced")).toBe(true),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await done;
      await environment[Symbol.asyncDispose]();
    },
  };
}

/** A pod as the API server has it. */
export function apiPod(uid: string, name: string, more: Partial<ApiPod> = {}): FakeObject {
  const { labels = {}, annotations = {}, owner, phase = "Running", containers = ["redis"] } = more;
  return {
    kind: "Pod",
    metadata: {
      uid,
      name,
      namespace: "shop",
      labels,
      annotations,
      ...(owner === undefined
        ? {}
        : {
            ownerReferences: [
              { apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: `rs-${owner}`, controller: true },
            ],
          }),
    },
    spec: {
      nodeName: "node-a",
      restartPolicy: more.restartPolicy ?? "Always",
      containers: containers.map((container) => ({ name: container, image: "registry.example.test/redis:7.0" })),
      volumes: more.volumes ?? [],
    },
    status: { phase, podIP: "10.88.0.9", containerStatuses: more.statuses ?? [] },
  };
}

interface ApiPod {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Name of the ReplicaSet. */
  readonly owner: string;
  readonly phase: string;
  readonly restartPolicy: string;
  readonly containers: readonly string[];
  readonly volumes: readonly object[];
  readonly statuses: readonly object[];
}

/** A ReplicaSet of a Deployment. */
export function replicaSet(name: string, deployment: string): FakeObject {
  return {
    kind: "ReplicaSet",
    metadata: {
      uid: `rs-${name}`,
      name,
      namespace: "shop",
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "Deployment", name: deployment, uid: `d-${deployment}`, controller: true },
      ],
    },
  };
}
