import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { QueuedEvent } from "../events.ts";
import { openForWriting, transaction } from "../sqlite.ts";
import { applyEvents, type Tally } from "./apply.ts";
import { purgeStep } from "./purge.ts";
import { createReader } from "./reader.ts";
import { prepareSchema, readState, writeState } from "./schema.ts";
import { prepareSide } from "./side.ts";
import type { Applied, Batch, SqliteStore } from "./store.ts";
import { prepareWorking } from "./working.ts";

/** Takes three records of a usual pod; a smaller one would take one. */
const PAGE = 8192;
const CACHE = 32 * 1024 * 1024;

/** Events whose records are in memory at a time. */
export const PART = 500;

/** Queues of which is known what was applied, the latest used: a collector whose folder does not last makes one at each start. */
export const KEPT_QUEUES = 64;

/** Opens, or makes, the store of a cluster in one SQLite file. Synchronous: for a thread of its own. */
export function openStore(file: string, cluster: string): SqliteStore {
  const database = openForWriting(file, PAGE, CACHE);
  try {
    prepareSchema(database, cluster);
  } catch (error) {
    database.close();
    throw error;
  }
  const reader = createReader(database, cluster);
  const begin = prepareWorking(database);
  const beginSide = prepareSide(database);
  // Replaced, not changed: its new number puts the queue that was applied last at the end.
  const markApplied = database.prepare("INSERT OR REPLACE INTO applied VALUES (?, ?)");
  const forgetQueues = database.prepare(
    "DELETE FROM applied WHERE rowid IN (SELECT rowid FROM applied ORDER BY rowid DESC LIMIT -1 OFFSET ?)",
  );

  const highest = (): number => Number(readState(database, "token") ?? 0);
  const count = (name: string): number => Number(readState(database, name) ?? 0);

  const applyInside = (batch: Batch): Applied => {
    const token = highest();
    if (batch.token < token) {
      throw new TrawlerError("TRAWLER_BUSY", `another writer has taken over (token ${token}, ours ${batch.token})`);
    }
    const from = reader.applied(batch.queue);
    const events = batch.events.filter(({ sequence }) => sequence > from);
    const last = events.at(-1)?.sequence;
    if (last === undefined) return { sequence: from, changed: 0, staleIgnored: 0, quarantined: 0 };
    let change = count("change");
    const tally: Tally = { changed: 0, staleIgnored: 0, quarantined: 0 };
    const nextChange = (): number => {
      change += 1;
      return change;
    };
    for (let at = 0; at < events.length; at += PART) {
      const part = events.slice(at, at + PART);
      const working = begin(nextChange);
      const side = beginSide();
      applyEvents(part, working, side, tally);
      working.write((state, error) => {
        tally.quarantined += 1;
        side.quarantine(lastOf(part, state.uid), `cannot be written: ${errorMessage(error)}`);
      });
      side.write();
    }
    markApplied.run(batch.queue, last);
    if (from === 0) forgetQueues.run(KEPT_QUEUES);
    if (batch.token > token) writeState(database, "token", String(batch.token));
    writeState(database, "change", String(change));
    if (tally.staleIgnored > 0) writeState(database, "stale", String(count("stale") + tally.staleIgnored));
    if (tally.quarantined > 0) writeState(database, "quarantined", String(count("quarantined") + tally.quarantined));
    return { sequence: last, ...tally };
  };

  return {
    ...reader,
    apply: (batch) => transaction(database, () => applyInside(batch)),
    fence: (token) =>
      transaction(database, () => {
        if (token < highest()) return false;
        writeState(database, "token", String(token));
        return true;
      }),
    purge: (retention, now, limit) => purgeStep(database, retention, now, limit),
  };
}

export function lastOf(events: readonly QueuedEvent[], uid: string): QueuedEvent {
  const found = events.findLast(({ event }) => "uid" in event && event.uid === uid) ?? events.at(-1);
  if (found === undefined) throw new TrawlerError("TRAWLER_LIMIT", "an empty batch");
  return found;
}
