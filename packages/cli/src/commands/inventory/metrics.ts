import type { CollectorStatus, LagObserver } from "@trawler/inventory";

export interface InventoryMetrics {
  readonly contentType: string;
  readonly lag: LagObserver;
  text(): Promise<string>;
}

/** The collector's counts as Prometheus metrics, read when they are asked for. `status` null = standby. */
export async function createInventoryMetrics(status: () => CollectorStatus | null): Promise<InventoryMetrics> {
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import("prom-client");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
  const durable = new Histogram({
    name: "trawler_inventory_durable_seconds",
    help: "From an event's receipt until it survives a power cut.",
    buckets,
    registers,
  });
  const visible = new Histogram({
    name: "trawler_inventory_visible_seconds",
    help: "From an event's receipt until it can be asked for.",
    buckets,
    registers,
  });
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name: `trawler_inventory_${name}`, help, labelNames, registers });
  const counters: { reset(): void }[] = [];
  /** A count that is kept elsewhere: begun anew and set at each reading. */
  const counter = (name: string, help: string, labelNames: readonly string[] = []) => {
    const made = new Counter({ name: `trawler_inventory_${name}`, help, labelNames, registers });
    counters.push(made);
    return made;
  };
  const leader = gauge("leader", "1 where this replica works.");
  const synced = gauge("synced", "1 where the kind is in step with the server.", ["kind"]);
  const objects = gauge("objects", "Objects that exist, as far as is known.", ["kind"]);
  const events = counter("events_total", "What was received, by its type.", ["kind", "type"]);
  const restarts = counter("restarts_total", "Watches that were begun anew, by the reason.", ["kind", "reason"]);
  const lists = counter("lists_total", "Complete lists that were read.", ["kind"]);
  const gaps = counter("gaps_total", "Losses of continuity in this run, by the reason.", ["kind", "reason"]);
  const odd = counter(
    "odd_events_total",
    "Events that were stale, malformed or oversized, and what only a safety list showed (drift).",
    ["kind", "what"],
  );
  const depth = gauge("queue_events", "Durable events that are not in the store yet.");
  const bytes = gauge("queue_bytes", "Bytes of the queue's file that hold events.");
  const pending = gauge("queue_pending_events", "Received events that are not durable yet.");
  const compacted = counter(
    "queue_compacted_total",
    "States that a full queue dropped between an object's first and last.",
  );
  const waiting = gauge("lag_seconds", "Time that the oldest durable event has waited for the store.");
  const stale = counter("stale_ignored_total", "Events that the store knew better.");
  const quarantined = counter("quarantined_total", "Events that could not be understood and were set aside.");
  const batches = counter("batches_total", "Batches that the store has committed.");
  const batchTime = gauge("batch_seconds", "Time of the last batch.");
  const skew = gauge("clock_skew_seconds", "The API server's clock minus ours, by the Date of its answers.");
  const fault = gauge("fault", "1 where nothing becomes durable or visible at present.");

  const read = (): void => {
    const now = status();
    for (const one of counters) one.reset();
    leader.set(now === null ? 0 : 1);
    if (now === null) return;
    for (const { stream: kind, state, reflector, events: counts, gaps: lost } of now.kinds) {
      synced.set({ kind }, state === "synced" ? 1 : 0);
      objects.set({ kind }, reflector.objects);
      lists.inc({ kind }, reflector.lists);
      for (const [type, count] of Object.entries(counts)) events.inc({ kind, type }, count);
      for (const [reason, count] of Object.entries(reflector.restarts)) restarts.inc({ kind, reason }, count);
      for (const [reason, count] of Object.entries(lost)) gaps.inc({ kind, reason }, count);
      odd.inc({ kind, what: "stale" }, reflector.staleIgnored);
      odd.inc({ kind, what: "stale_list" }, reflector.staleLists);
      odd.inc({ kind, what: "malformed" }, reflector.malformed);
      odd.inc({ kind, what: "oversized" }, reflector.oversized);
      odd.inc({ kind, what: "drift" }, reflector.drift);
    }
    const { queue, writer } = now;
    depth.set(now.depth);
    bytes.set(queue.fileBytes);
    pending.set(queue.pending);
    compacted.inc(queue.compacted);
    waiting.set(now.waiting);
    stale.inc(writer.staleIgnored);
    quarantined.inc(writer.quarantined);
    batches.inc(writer.batches);
    batchTime.set(writer.lastBatchMilliseconds / 1000);
    if (now.clockSkew !== null) skew.set(now.clockSkew.milliseconds / 1000);
    fault.set(queue.fault === null && writer.fault === null ? 0 : 1);
  };

  return {
    contentType: registry.contentType,
    lag: { durable: (seconds) => durable.observe(seconds), visible: (seconds) => visible.observe(seconds) },
    text: () => {
      read();
      return registry.metrics();
    },
  };
}
