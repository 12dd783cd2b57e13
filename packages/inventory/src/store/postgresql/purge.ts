import { numberOf, textOf } from "../../sqlite.ts";
import { KEPT } from "../feed.ts";
import { LIVE } from "../schema.ts";
import type { Retention } from "../store.ts";
import type { Columns, Sql } from "./session.ts";

const DAY = 86_400_000;

/** Takes away the oldest ended records that are over their time or over the count, at most `limit`. */
export async function purgeStep(
  sql: Sql,
  store: Columns,
  { days, rows: most }: Retention,
  now: number,
  limit: number,
): Promise<number> {
  const oldest = async (before: number, count: number): Promise<readonly Columns[]> =>
    count <= 0
      ? []
      : sql("SELECT id, kind, uid FROM records WHERE ended < $1 ORDER BY ended LIMIT $2", [before, count]);
  let rows = await oldest(Math.min(now - days * DAY, LIVE), limit);
  if (rows.length < limit) {
    // Counted along with the batches: to count them anew takes long.
    const excess = numberOf(store["ended"]) - most;
    rows = await oldest(LIVE, Math.min(limit, Math.max(rows.length, excess)));
  }
  if (rows.length === 0) return 0;
  const uids = [...new Set(rows.map((row) => textOf(row["uid"]) ?? ""))];
  await sql("DELETE FROM records WHERE id = ANY($1::bigint[])", [rows.map((row) => String(row["id"]))]);
  await sql(
    `DELETE FROM figures WHERE uid = ANY($1::text[])
     AND NOT EXISTS (SELECT 1 FROM records WHERE records.uid = figures.uid)`,
    [uids],
  );
  const change = numberOf(store["change"]);
  await sql(
    `INSERT INTO purged SELECT c, k, u FROM unnest($1::bigint[], $2::text[], $3::text[]) AS gone (c, k, u)
     WHERE NOT EXISTS (SELECT 1 FROM records WHERE records.uid = u AND records.kind = k)`,
    [
      rows.map((_, index) => String(change + index + 1)),
      rows.map((row) => textOf(row["kind"]) ?? ""),
      rows.map((row) => textOf(row["uid"]) ?? ""),
    ],
  );
  await sql("UPDATE store SET change = $1, ended = ended - $2", [change + rows.length, rows.length]);
  const [edge] = await sql("SELECT change FROM purged ORDER BY change DESC LIMIT 1 OFFSET $1", [KEPT]);
  if (edge !== undefined) {
    const forgotten = numberOf(edge["change"]);
    await sql("DELETE FROM purged WHERE change <= $1", [forgotten]);
    await sql("UPDATE store SET forgotten = $1", [forgotten]);
  }
  return rows.length;
}
