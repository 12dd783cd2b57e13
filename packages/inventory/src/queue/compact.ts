import type { DatabaseSync } from "node:sqlite";
import type { InventoryEvent, ObjectEvent } from "../events.ts";
import { bytesOf, numberOf, textOf, transaction } from "../sqlite.ts";
import { decodeEvents, encodeHead, packPayloads } from "./codec.ts";

/** Events that are looked at together: what is known of each object's states fits into memory. */
const WINDOW = 100_000;

/**
 * Drops intermediate states from what is durable and not released, commit by commit; yields how many each rewrite
 * dropped. An object's first and last state stay, additions and deletions too. Of what is dropped its
 * version stays: sequences have no holes, positions move as before, and records count it. A throw leaves the rest as it is.
 */
export function* compact(database: DatabaseSync, after: number, to: number): Generator<number, void, void> {
  const heads = database.prepare("SELECT last, first, heads FROM events WHERE last > ? AND last <= ? ORDER BY last");
  const load = database.prepare("SELECT first, heads, lengths, payloads FROM events WHERE last = ?");
  const remove = database.prepare("DELETE FROM events WHERE last = ?");
  const insert = database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?)");
  for (let from = after; from < to; ) {
    const end = Math.min(to, from + WINDOW);
    const commits: { readonly first: number; readonly last: number; readonly heads: string }[] = [];
    for (const row of heads.iterate(from, end)) {
      commits.push({ first: numberOf(row["first"]), last: numberOf(row["last"]), heads: textOf(row["heads"]) ?? "" });
    }
    // A commit that reaches over the end is a part of the next span; a longer one than a span there is none.
    from = commits.at(-1)?.last ?? end;
    const dropped = between(
      commits.flatMap(({ first, heads: text }) => headsOf(text).map((head, at) => ({ sequence: first + at, head }))),
    );
    for (const { first, last } of commits) {
      const touched = range(first, last).filter((sequence) => dropped.has(sequence));
      if (touched.length === 0) continue;
      const row = load.get(last);
      // Released meanwhile.
      if (row === undefined) continue;
      const events = decodeEvents(
        textOf(row["heads"]) ?? "",
        textOf(row["lengths"]) ?? "",
        bytesOf(row["payloads"]),
      ).map((event, at) => (dropped.has(first + at) ? bare(event) : event));
      const payloads = events.map((event) => ("payload" in event ? event.payload : new Uint8Array(0)));
      const lengths = payloads.map(({ length }) => length);
      const packed = packPayloads(Buffer.concat(payloads), lengths);
      transaction(database, () => {
        // First out, then in: an update would take room for the new one while the old one still has its own.
        remove.run(last);
        insert.run(last, first, events.map(encodeHead).join("\n"), lengths.join(), packed);
      });
      yield touched.length;
    }
  }
}

function headsOf(text: string): InventoryEvent[] {
  // We wrote them ourselves: their shape is ours.
  return text.split("\n").map((head): InventoryEvent => JSON.parse(head));
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Pure: the sequences of states between an object's first and its last one. */
export function between(
  events: readonly { readonly sequence: number; readonly head: InventoryEvent }[],
): ReadonlySet<number> {
  const found = new Set<number>();
  // By object: its latest state, where that may go once there is a later one.
  const latest = new Map<string, number | null>();
  for (const { sequence, head } of events) {
    if (!isState(head)) continue;
    const key = `${head.epoch}/${head.kind}/${head.uid}`;
    const before = latest.get(key);
    // Of one that was too large nothing is known: it takes nobody's place.
    if (before !== undefined && head.truncated === true) continue;
    if (before != null) found.add(before);
    const canGo = before !== undefined && head.type === "modified" && head.resourceVersion !== null;
    latest.set(key, canGo ? sequence : null);
  }
  return found;
}

function isState(event: InventoryEvent): event is ObjectEvent {
  return event.type === "added" || event.type === "modified" || event.type === "deleted" || event.type === "listed";
}

function bare(event: InventoryEvent): InventoryEvent {
  if (!isState(event) || event.resourceVersion === null) return event;
  const { stream, receivedAt, epoch, kind, uid, resourceVersion } = event;
  return { type: "merged", stream, receivedAt, epoch, kind, uid, resourceVersion };
}
