import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPublisher, makeKafka, openStore } from "@trawler/inventory";
import { expect, test } from "vitest";
import { TopicReader } from "../src/kafka.ts";
import { node } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

onNode("the compacted topic of records", "e2e-inventory-topic", () => {
  test("a record that retention takes away is a tombstone in the compacted topic", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trawler-topic-"));
    const topic = `trawler.inventory-purge-${Date.now()}`;
    try {
      using store = openStore(join(folder, "store.db"), "testbed");
      const payload = new TextEncoder().encode(JSON.stringify({ metadata: { name: "cart-0", namespace: "shop" } }));
      const common = { stream: "pods", kind: "Pod", epoch: 0, receivedAt: Date.now(), payload } as const;
      const events = [
        { sequence: 1, event: { ...common, type: "added", uid: "stays", resourceVersion: "1" } },
        { sequence: 2, event: { ...common, type: "deleted", uid: "goes", resourceVersion: "2" } },
      ] as const;
      store.apply({ queue: "q", events, token: 0 });
      const kafka = await makeKafka({ brokers: node().kafka.brokers, clientId: "test" }, () => {});
      const options = { kafka, store, log, topic, createTopic: true, partitions: 1 };
      await publish(createPublisher({ ...options, folder }));
      expect(store.purge({ days: 1, rows: 1_000 }, Date.now() + 100 * 86_400_000, 10)).toBe(1);
      await publish(createPublisher({ ...options, folder }));
      await using reader = await TopicReader.open(topic);
      const seen = (): readonly string[] =>
        reader.records.map(({ key, value }) => `${key} ${value === "null" ? "tombstone" : "record"}`);
      await waitFor("the tombstone", () => seen().length === 3);
      expect(seen()).toEqual(["testbed/Pod/stays record", "testbed/Pod/goes record", "testbed/Pod/goes tombstone"]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Writes what there is, as a stop does. */
async function publish(publisher: ReturnType<typeof createPublisher>): Promise<void> {
  const stop = AbortSignal.abort();
  await publisher.run(stop);
  expect(publisher.status().fault).toBeNull();
}
