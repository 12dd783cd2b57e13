import { type PodRecord, parsePod, type RuntimePod } from "@trawler/kube";
import type { Workload } from "@trawler/plugin-api";
import { describe, expect, it } from "vitest";
import { EventQueue } from "../src/queue.ts";
import { PodTable } from "../src/table.ts";
import { apiPod } from "./world.ts";

const A = "aaaaaaaa-0000-4000-8000-000000000001";
const AT = Date.UTC(2026, 10, 30, 22);
const AWAY = { since: "2026-11-30T22:00:00.000Z", reason: "connection refused" };

function record(name: string, more: Parameters<typeof apiPod>[2] = {}): PodRecord {
  const parsed = parsePod(apiPod(A, name, more));
  if (parsed === null) throw new Error("fixture");
  return parsed;
}

const runtime: RuntimePod = {
  source: "cri",
  observedAt: "2026-11-30T22:00:00.000Z",
  uid: A,
  namespace: "shop",
  name: "cart-0",
  sandbox: null,
  containers: [
    {
      id: "8".repeat(64),
      name: "redis",
      image: "registry.example.test/redis:7.0",
      digest: null,
      state: "running",
      createdAt: null,
      startedAt: null,
      finishedAt: null,
      exitCode: null,
      reason: null,
      attempt: 0,
      labels: {},
      pid: 77,
      cgroup: null,
      environment: {},
    },
  ],
};

function open(away: typeof AWAY | null = null) {
  const queue = new EventQueue();
  const table = new PodTable({
    cluster: "testbed",
    node: "node-a",
    select: (workload) => workload,
    queue,
    owner: () => ({ resource: {}, complete: true, reason: null, observedAt: null }),
    away,
  });
  const read = async (): Promise<readonly string[]> => {
    const stop = new AbortController();
    const seen: string[] = [];
    setImmediate(() => stop.abort());
    for await (const event of queue.events(stop.signal)) {
      if (event.type !== "synced") seen.push(`${event.type} ${summary(event.workload)}`);
    }
    return seen;
  };
  return { table, read };
}

const summary = ({ metadata, labels }: Workload): string =>
  `${metadata.groups.labels?.source ?? "-"} ${labels["v"] ?? "-"}`;

describe("the table of pods", () => {
  it("tells nothing of a pod that only the API has before the runtime has told its own", async () => {
    const { table, read } = open();
    table.apiRecord(record("cart-0", { labels: { v: "1" } }), AT);
    expect(await read()).toEqual([]);
    table.runtimeSynced();
    expect(await read()).toEqual(["added api 1"]);
  });

  it("takes the kubelet's record while the API server is away, and the API's again after", async () => {
    const { table, read } = open(AWAY);
    table.setRuntime(runtime);
    expect(await read()).toEqual(["added - -"]);
    table.kubeletRecord(record("cart-0", { labels: { v: "kubelet" } }), AT);
    expect(await read()).toEqual(["updated podsApi kubelet"]);
    table.apiRecord(record("cart-0", { labels: { v: "api" } }), AT);
    table.apiSynced();
    table.clearSubstitutes();
    expect(await read()).toEqual(["updated api api"]);
  });

  it("tells nothing where only the age of what is known has changed", async () => {
    const { table, read } = open();
    table.setRuntime(runtime);
    table.apiRecord(record("cart-0"), AT);
    await read();
    table.apiRecord(record("cart-0"), AT + 60_000);
    table.setRuntime({ ...runtime, observedAt: "2026-11-30T22:05:00.000Z" });
    expect(await read()).toEqual([]);
  });

  it("tells nothing of pods that had ended long before the API server could say so", async () => {
    const { table, read } = open(AWAY);
    table.runtimeSynced();
    table.apiRecord(record("job-0", { phase: "Succeeded" }), AT);
    table.apiSynced();
    expect(await read()).toEqual([]);
    table.apiDeleted(record("job-0", { phase: "Succeeded" }), AT);
    expect(await read()).toEqual([]);
    expect(table.size).toBe(0);
  });

  it("forgets a pod once runtime and record have gone, in either order", async () => {
    for (const runtimeFirst of [true, false]) {
      const { table, read } = open();
      table.runtimeSynced();
      table.setRuntime(runtime);
      table.apiRecord(record("cart-0"), AT);
      await read();
      if (runtimeFirst) table.runtimeGone(runtime);
      table.apiDeleted(record("cart-0"), AT);
      if (!runtimeFirst) table.runtimeGone(runtime);
      expect((await read()).at(-1)).toMatch(/^removed/);
      expect(table.size).toBe(0);
    }
  });

  it("names the environment that a specification fills from the pod's own fields", () => {
    const { table } = open();
    table.setRuntime(runtime);
    const pod = apiPod(A, "cart-0");
    const spec = {
      containers: [
        { name: "redis", env: [{ name: "MY_NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }] },
      ],
    };
    const parsed = parsePod({ ...pod, spec });
    if (parsed === null) throw new Error("fixture");
    table.apiRecord(parsed, AT);
    expect([...table.environmentNames(A)]).toEqual(["MY_NODE"]);
  });
});
