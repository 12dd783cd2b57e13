import type { DatabaseSync } from "node:sqlite";
import { numberOf, textOf, transaction } from "../sqlite.ts";
import { createObjects } from "./objects.ts";
import { LIVE } from "./schema.ts";
import type { Retention } from "./store.ts";

const DAY = 86_400_000;

/** How many records of gone objects are over their time, or over the count. */
export function countPurgeable(database: DatabaseSync, { days, rows }: Retention, now: number): number {
  const count = (before: number): number =>
    numberOf(database.prepare("SELECT count(*) AS n FROM records WHERE ended < ?").get(before)?.["n"]);
  return Math.max(count(now - days * DAY), count(LIVE) - rows);
}

/** Takes away the oldest of them, at most `limit`, with what belongs to them. */
export function purgeStep(database: DatabaseSync, retention: Retention, now: number, limit: number): number {
  const most = Math.min(limit, countPurgeable(database, retention, now));
  if (most <= 0) return 0;
  const objects = createObjects(database);
  const oldest = database.prepare("SELECT id, uid FROM records WHERE ended < ? ORDER BY ended LIMIT ?");
  const remove = database.prepare("DELETE FROM records WHERE id = ?");
  const removeFigures = database.prepare(
    "DELETE FROM figures WHERE uid = ? AND NOT EXISTS (SELECT 1 FROM records WHERE records.uid = figures.uid)",
  );
  return transaction(database, () => {
    const rows = oldest.all(LIVE, most);
    for (const row of rows) {
      objects.remove(numberOf(row["id"]));
      remove.run(numberOf(row["id"]));
      removeFigures.run(textOf(row["uid"]) ?? "");
    }
    return rows.length;
  });
}
