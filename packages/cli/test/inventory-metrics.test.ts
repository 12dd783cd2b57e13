import type { CollectorStatus } from "@trawler/inventory";
import { expect, test } from "vitest";
import { createInventoryMetrics } from "../src/commands/inventory/metrics.ts";

const status: CollectorStatus = {
  kinds: [
    {
      stream: "pods",
      kind: "Pod",
      required: true,
      state: "synced",
      reason: null,
      gaps: { overflow: 2 },
      events: { added: 3, modified: 4, deleted: 5, listed: 6, absent: 7 },
      reflector: {
        state: "synced",
        listing: false,
        away: null,
        resourceVersion: "12",
        objects: 8,
        lists: 9,
        listPages: 10,
        streamedLists: 0,
        refusedStreams: 0,
        watches: 11,
        restarts: { end: 12, idle: 13, full: 14, expired: 15, error: 16, denied: 17 },
        events: 18,
        bookmarks: 19,
        staleIgnored: 20,
        staleLists: 21,
        malformed: 22,
        oversized: 23,
        epoch: 0,
        drift: 24,
      },
    },
  ],
  queue: { durable: 50, released: 20, pending: 25, pendingBytes: 1, fileBytes: 26, compacted: 27, fault: "full" },
  writer: {
    applied: 20,
    batches: 28,
    events: 29,
    staleIgnored: 31,
    quarantined: 32,
    lastBatchMilliseconds: 33_000,
    fault: null,
    faultCode: null,
  },
  depth: 30,
  waiting: 34,
  clockSkew: { milliseconds: -35_000, uncertainty: 500 },
  unready: "nothing becomes durable",
};

test("B49: state, depth, lag, restarts and gaps by reason, and whatever was odd are metrics; reading them twice changes nothing", async () => {
  const metrics = await createInventoryMetrics(() => status);
  metrics.lag.durable(0.003);
  metrics.lag.visible(0.2);
  await metrics.text();
  const lines = (await metrics.text()).split("\n");
  const value = (name: string): number | undefined => {
    const line = lines.find((one) => one.startsWith(`trawler_inventory_${name} `));
    return line === undefined ? undefined : Number(line.split(" ").at(-1));
  };
  expect(
    Object.fromEntries(
      [
        "leader",
        'synced{kind="pods"}',
        'objects{kind="pods"}',
        'lists_total{kind="pods"}',
        'events_total{kind="pods",type="deleted"}',
        'restarts_total{kind="pods",reason="idle"}',
        'restarts_total{kind="pods",reason="full"}',
        'gaps_total{kind="pods",reason="overflow"}',
        'odd_events_total{kind="pods",what="stale"}',
        'odd_events_total{kind="pods",what="drift"}',
        "queue_events",
        "queue_bytes",
        "queue_pending_events",
        "queue_compacted_total",
        "lag_seconds",
        "stale_ignored_total",
        "quarantined_total",
        "batches_total",
        "batch_seconds",
        "clock_skew_seconds",
        "fault",
        "durable_seconds_count",
        "visible_seconds_count",
      ].map((name) => [name, value(name)]),
    ),
  ).toEqual({
    leader: 1,
    'synced{kind="pods"}': 1,
    'objects{kind="pods"}': 8,
    'lists_total{kind="pods"}': 9,
    'events_total{kind="pods",type="deleted"}': 5,
    'restarts_total{kind="pods",reason="idle"}': 13,
    'restarts_total{kind="pods",reason="full"}': 14,
    'gaps_total{kind="pods",reason="overflow"}': 2,
    'odd_events_total{kind="pods",what="stale"}': 20,
    'odd_events_total{kind="pods",what="drift"}': 24,
    queue_events: 30,
    queue_bytes: 26,
    queue_pending_events: 25,
    queue_compacted_total: 27,
    lag_seconds: 34,
    stale_ignored_total: 31,
    quarantined_total: 32,
    batches_total: 28,
    batch_seconds: 33,
    clock_skew_seconds: -35,
    fault: 1,
    durable_seconds_count: 1,
    visible_seconds_count: 1,
  });
});

test("B50: a standby has no state of another to show", async () => {
  const metrics = await createInventoryMetrics(() => null);
  expect(await metrics.text()).toMatch(/^trawler_inventory_leader 0$/m);
});
