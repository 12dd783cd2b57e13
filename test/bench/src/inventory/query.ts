import { join } from "node:path";
import { cpuUsage } from "node:process";
import { DatabaseSync } from "node:sqlite";
import { openStore, openStoreReader, type QueuedEvent } from "@trawler/inventory";
import type { Benchmark } from "../benchmark.ts";
import { benchFolder } from "./folder.ts";
import { percentile } from "./percentile.ts";
import { uidOf } from "./pods.ts";
import { generator } from "./random.ts";

const NODES = 500;
const DAY = 86_400_000;
const DAYS = 180;
const NOW = 1_790_000_000_000;
/** Records that are written as the writer does; the rest are copies of their rows under other names and times. */
const MADE = 10_000;
const QUERIES = 300;
const LIMIT = 50;

export const bench: Benchmark = {
  name: "inventory-query",
  title: "Inventory: the pods of one node at a past time",
  run: async ({ signal, log, quick }) => {
    using folder = benchFolder();
    const file = join(folder.path, "inventory.db");
    const total = quick ? 50_000 : 1_000_000;
    write(file);
    multiply(file, total / MADE, signal);
    log(`${total} records stand in the store`);
    using store = openStoreReader(file);
    const random = generator(7);
    const times: number[] = [];
    const cpu: number[] = [];
    let found = 0;
    for (let index = 0; index < QUERIES && !signal.aborted; index += 1) {
      const at = Math.floor(NOW - (1 + random() * (DAYS - 2)) * DAY);
      const node = `node-${Math.floor(random() * NODES)}`;
      const before = cpuUsage();
      const begun = performance.now();
      const { records } = store.query({ kind: "Pod", node, between: [at, at] });
      times.push(performance.now() - begun);
      const { user, system } = cpuUsage(before);
      cpu.push((user + system) / 1000);
      found += records.length;
    }
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
    return {
      rows: [
        {
          what: `one node's pods at a past time, of ${total} records`,
          figure: `p99 ${p99.toFixed(1)} ms (p50 ${p50.toFixed(1)}, first ${(times[0] ?? 0).toFixed(1)}; CPU p99 ${percentile(cpu, 0.99).toFixed(1)}), ${Math.round(found / QUERIES)} pods each`,
          budget: `${LIMIT} ms`,
          met: found > 0 && p99 <= LIMIT,
        },
      ],
      method:
        `${QUERIES} queries for a random one of ${NODES} nodes at a random time of ${DAYS} days, in one process after ` +
        "the other; pods live for some days, so that each node has had thousands. " +
        `${MADE} records are written through the store; the others are copies of their rows.`,
      raw: { times, cpu },
    };
  },
};

function write(file: string): void {
  using store = openStore(file, "bench");
  const random = generator(3);
  for (let from = 0; from < MADE; from += 500) {
    const events = Array.from({ length: 500 }, (_, offset) => lifeOf(from + offset, random)).flat();
    store.apply({ queue: "bench", token: 0, events });
  }
}

/** A pod that is added, and deleted some days later. */
function lifeOf(index: number, random: () => number): readonly QueuedEvent[] {
  const started = Math.floor(NOW - random() * DAYS * DAY);
  const ended = Math.floor(started + random() * 5 * DAY);
  const uid = uidOf(index);
  const object = {
    metadata: {
      uid,
      name: `pod-${index}`,
      namespace: `ns-${index % 300}`,
      creationTimestamp: new Date(started).toISOString(),
      labels: { app: `service-${index % 1000}`, "pod-template-hash": uid.slice(-10) },
      ownerReferences: [
        { kind: "ReplicaSet", name: `rs-${index % 3000}`, uid: `owner-${index % 3000}`, controller: true },
      ],
    },
    spec: {
      nodeName: `node-${index % NODES}`,
      containers: [
        { name: "main", image: "registry.example/app:1", resources: { requests: { cpu: "100m", memory: "64Mi" } } },
      ],
    },
    status: { phase: "Running", podIP: "10.1.2.3", qosClass: "Burstable" },
  };
  const payload = Buffer.from(JSON.stringify(object));
  const common = { stream: "pods", kind: "Pod", epoch: 0, uid, payload };
  const sequence = index * 2 + 1;
  return [
    { sequence, event: { ...common, type: "added", receivedAt: started, resourceVersion: String(sequence + 100) } },
    {
      sequence: sequence + 1,
      event: { ...common, type: "deleted", receivedAt: ended, resourceVersion: String(sequence + 101) },
    },
  ];
}

function multiply(file: string, times: number, signal: AbortSignal): void {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -262144");
    const copy = database.prepare(
      `INSERT INTO records (kind, uid, epoch, namespace, name, node, owner_kind, owner_name, owner_uid, started, ended, changed, body)
       SELECT kind, uid || '-' || ?1, epoch, namespace, name || '-' || ?1, node, owner_kind, owner_name, owner_uid,
         started - ?2, ended - ?2, changed + ?1 * ${2 * MADE}, body FROM records WHERE id <= ${MADE}`,
    );
    for (let round = 1; round < times && !signal.aborted; round += 1) copy.run(round, (round * 7919) % (DAY / 2));
  } finally {
    database.close();
  }
}
