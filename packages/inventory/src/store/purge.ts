import type { DatabaseSync } from "node:sqlite";
import { numberOf, textOf, transaction } from "../sqlite.ts";
import { preparePurged } from "./feed.ts";
import { prepareObjects } from "./objects.ts";
import { LIVE, readState, writeState } from "./schema.ts";
import type { Retention } from "./store.ts";

const DAY = 86_400_000;

/** How many records of gone objects are over their time, or over the count. */
export function countPurgeable(database: DatabaseSync, { days, rows }: Retention, now: number): number {
  return Math.max(0, countEnded(database, now - days * DAY), countEnded(database, LIVE) - rows);
}

/** Takes away the oldest of them, at most `limit`, with what belongs to them. */
export function purgeStep(database: DatabaseSync, retention: Retention, now: number, limit: number): number {
  const oldest = database.prepare("SELECT id, kind, uid FROM records WHERE ended < ? ORDER BY ended LIMIT ?");
  let rows = oldest.all(Math.min(now - retention.days * DAY, LIVE), limit);
  // Counting takes long: only where time alone leaves room in this step.
  if (rows.length < limit) rows = oldest.all(LIVE, Math.min(limit, Math.max(rows.length, excess(database, retention))));
  if (rows.length === 0) return 0;
  const objects = prepareObjects(database)();
  const remove = database.prepare("DELETE FROM records WHERE id = ?");
  const removeFigures = database.prepare(
    "DELETE FROM figures WHERE uid = ? AND NOT EXISTS (SELECT 1 FROM records WHERE records.uid = figures.uid)",
  );
  const purged = preparePurged(database);
  transaction(database, () => {
    let change = Number(readState(database, "change") ?? 0);
    for (const row of rows) {
      objects.remove(numberOf(row["id"]));
      remove.run(numberOf(row["id"]));
      removeFigures.run(textOf(row["uid"]) ?? "");
      change += 1;
      purged.add(change, textOf(row["kind"]) ?? "", textOf(row["uid"]) ?? "");
    }
    writeState(database, "change", String(change));
    const forgotten = purged.trim();
    if (forgotten !== null) writeState(database, "forgotten", String(forgotten));
    objects.flush();
  });
  return rows.length;
}

function excess(database: DatabaseSync, { rows }: Retention): number {
  return countEnded(database, LIVE) - rows;
}

function countEnded(database: DatabaseSync, before: number): number {
  return numberOf(database.prepare("SELECT count(*) AS n FROM records WHERE ended < ?").get(before)?.["n"]);
}
