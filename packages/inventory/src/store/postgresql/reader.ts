import { TrawlerError } from "@trawler/plugin-api";
import { unpack } from "../../compress.ts";
import type { InventoryRecord, RecordOwner } from "../../record.ts";
import { bytesOf, numberOf, textOf } from "../../sqlite.ts";
import { asGap, asPosition, CHAIN, isComplete, joinFigures, presentRows } from "../answers.ts";
import { asPurged, feedPlace, mergeFeed } from "../feed.ts";
import { asRow, MOST, queryText, type Row } from "../query.ts";
import { parsePast } from "../rows.ts";
import { LIVE } from "../schema.ts";
import type { Change, Gap, Retention, StoreReader } from "../store.ts";
import { checkSchema } from "./schema.ts";
import { type Columns, connect, keepSession, type Session, type Sql } from "./session.ts";
import type { PostgresqlSettings } from "./settings.ts";
import { decodeText, encodeText } from "./text.ts";

const COLUMNS = "id, body, started, ended, changed, digest";
const DAY = 86_400_000;

/** Opens a store beside its writer. Errors: TRAWLER_UNAVAILABLE, TRAWLER_DENIED, TRAWLER_REFUSED. */
export async function openPostgresqlReader(settings: PostgresqlSettings): Promise<StoreReader> {
  const first = await connect(settings, "reader");
  try {
    const cluster = await checkSchema(first.sql, settings.schema, null);
    return createReader(answering(settings, first), cluster);
  } catch (error) {
    await first[Symbol.asyncDispose]();
    throw error;
  }
}

/** Answers one question after another, each as of one commit; connects anew where the connection was lost. */
interface Answering extends AsyncDisposable {
  <T>(question: (sql: Sql) => Promise<T>): Promise<T>;
}

function answering(settings: PostgresqlSettings, first: Session): Answering {
  const kept = keepSession(first, () => connect(settings, "reader"));
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  const ask = async <T>(question: (sql: Sql) => Promise<T>): Promise<T> => {
    if (closed) throw new TrawlerError("TRAWLER_GONE", "the store is closed");
    const session = await kept.current();
    const { sql } = session;
    await sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    try {
      return await question(sql);
    } finally {
      if (!session.broken()) await sql("ROLLBACK");
    }
  };

  const queued = <T>(question: (sql: Sql) => Promise<T>): Promise<T> => {
    const mine = last.then(() => ask(question));
    last = mine.catch(() => undefined);
    return mine;
  };
  return Object.assign(queued, {
    [Symbol.asyncDispose]: async () => {
      closed = true;
      await last;
      await kept[Symbol.asyncDispose]();
    },
  });
}

function createReader(answer: Answering, cluster: string): StoreReader {
  return {
    query: (query) =>
      answer(async (sql) => {
        const { sql: text, values, limit } = queryText(query, COLUMNS);
        const found = await sql(
          numbered(text),
          values.map((value) => (typeof value === "string" ? encodeText(value) : value)),
        );
        const rows = found.map(asRow);
        const shown = rows.slice(0, limit);
        const gaps = (await gapsOf(sql, query.between)).filter(
          ({ kind }) => query.kind === undefined || kind === query.kind,
        );
        const next = rows.length > limit ? (shown.at(-1)?.id ?? null) : null;
        return { records: await present(sql, shown, cluster), complete: isComplete(query, gaps), gaps, next };
      }),
    show: (uid) =>
      answer(async (sql) => {
        const key = encodeText(uid);
        const columns = await sql(`SELECT ${COLUMNS}, past, object FROM records WHERE uid = $1 ORDER BY epoch, id`, [
          key,
        ]);
        const records = await present(sql, columns.map(asRow), cluster);
        const figures = joinFigures(await sql("SELECT frame FROM figures WHERE uid = $1 ORDER BY part", [key]));
        return columns.flatMap((row, index) => {
          const record = records[index];
          if (record === undefined) return [];
          return [{ ...record, ...parsePast(textOf(row["past"]), record), object: objectOf(row), figures }];
        });
      }),
    gaps: (between) => answer((sql) => gapsOf(sql, between)),
    status: () =>
      answer(async (sql) => {
        const [row = {}] = await sql(
          `SELECT stale, quarantined, (SELECT max(sequence) FROM applied) AS applied,
             (SELECT count(*) FROM records WHERE ended = ${LIVE}) AS live,
             (SELECT count(*) FROM records WHERE ended < ${LIVE}) AS deleted,
             (SELECT count(*) FROM gaps) AS gaps FROM store`,
        );
        const count = (name: string): number => numberOf(row[name]);
        return {
          cluster,
          applied: count("applied"),
          live: count("live"),
          deleted: count("deleted"),
          gaps: count("gaps"),
          staleIgnored: count("stale"),
          quarantined: count("quarantined"),
          positions: (await sql("SELECT * FROM positions ORDER BY stream")).map(asPosition),
        };
      }),
    has: (kind, uid) =>
      answer(async (sql) => {
        const keys = [encodeText(uid), encodeText(kind)];
        return (await sql("SELECT 1 AS found FROM records WHERE uid = $1 AND kind = $2 LIMIT 1", keys)).length > 0;
      }),
    known: (kind) =>
      answer(async (sql) => {
        const rows = await sql(`SELECT uid, version FROM records WHERE kind = $1 AND ended = ${LIVE} ORDER BY id`, [
          encodeText(kind),
        ]);
        return rows.map((row) => ({
          uid: decodeText(textOf(row["uid"]) ?? ""),
          resourceVersion: textOf(row["version"]),
        }));
      }),
    position: (stream) =>
      answer(async (sql) => {
        const [row] = await sql("SELECT * FROM positions WHERE stream = $1", [stream]);
        return row === undefined ? null : asPosition(row);
      }),
    applied: (queue) =>
      answer(async (sql) => {
        const [row] = await sql("SELECT sequence FROM applied WHERE queue = $1", [queue]);
        return numberOf(row?.["sequence"]);
      }),
    changes: (after, limit) => answer((sql) => changesOf(sql, after, limit, cluster)),
    feed: (since, limit) =>
      answer(async (sql) => {
        const [row = {}] = await sql("SELECT identity, change, forgotten FROM store");
        const identity = textOf(row["identity"]) ?? "";
        const edges = { identity, newest: numberOf(row["change"]), forgotten: numberOf(row["forgotten"]) };
        const after = feedPlace(edges, since);
        const purged = await sql("SELECT change, kind, uid FROM purged WHERE change > $1 ORDER BY change LIMIT $2", [
          after,
          limit,
        ]);
        const named = purged.map((one) => ({
          ...asPurged(one),
          kind: decodeText(textOf(one["kind"]) ?? ""),
          uid: decodeText(textOf(one["uid"]) ?? ""),
        }));
        return mergeFeed({ cluster, identity, after, limit }, await changesOf(sql, after, limit, cluster), named);
      }),
    purgeable: ({ days, rows }: Retention, now) =>
      answer(async (sql) => {
        const [row = {}] = await sql(
          `SELECT count(*) FILTER (WHERE ended < $1) AS old, count(*) AS ended FROM records WHERE ended < ${LIVE}`,
          [now - days * DAY],
        );
        return Math.max(0, numberOf(row["old"]), numberOf(row["ended"]) - rows);
      }),
    [Symbol.asyncDispose]: () => Promise.resolve(answer[Symbol.asyncDispose]()),
  };
}

/** `?` as $1, $2, …: no text of ours has one for another reason. */
function numbered(text: string): string {
  let count = 0;
  return text.replace(/\?/g, () => {
    count += 1;
    return `$${count}`;
  });
}

async function gapsOf(sql: Sql, between?: readonly [number, number]): Promise<readonly Gap[]> {
  const rows = await sql("SELECT * FROM gaps WHERE ended >= $1 AND began <= $2 ORDER BY id", [
    between?.[0] ?? 0,
    between?.[1] ?? LIVE,
  ]);
  return rows.map(asGap);
}

async function changesOf(sql: Sql, after: number, limit: number, cluster: string): Promise<readonly Change[]> {
  const found = await sql(`SELECT ${COLUMNS} FROM records WHERE changed > $1 ORDER BY changed LIMIT $2`, [
    after,
    Math.min(limit, MOST),
  ]);
  const rows = found.map(asRow);
  const records = await present(sql, rows, cluster);
  return records.map((record, index) => ({ cursor: rows[index]?.changed ?? after, record }));
}

async function present(sql: Sql, rows: readonly Row[], cluster: string): Promise<readonly InventoryRecord[]> {
  const gaps = await gapsOf(sql);
  const above = new Map<string, RecordOwner[]>();
  const direct = presentRows(rows, cluster, gaps, (owners) => owners);
  const uids = [...new Set(direct.flatMap(({ owners }) => owners.slice(0, 1).map(({ uid }) => uid)))];
  const found = uids.length === 0 ? [] : await sql(ABOVE, [uids.map(encodeText)]);
  for (const row of found) {
    const from = decodeText(textOf(row["start"]) ?? "");
    const chain = above.get(from) ?? [];
    const text = (name: string): string => decodeText(textOf(row[name]) ?? "");
    chain.push({ kind: text("kind"), name: text("name"), uid: text("uid") });
    above.set(from, chain);
  }
  return direct.map((record) => {
    const [owner] = record.owners;
    return owner === undefined ? record : { ...record, owners: [owner, ...(above.get(owner.uid) ?? [])] };
  });
}

/** The owners above each of the given UIDs, the nearest first. */
const ABOVE = `
WITH RECURSIVE above AS (
  SELECT start, 1 AS depth, next.* FROM unnest($1::text[]) AS start, LATERAL (
    SELECT owner_kind AS kind, owner_name AS name, owner_uid AS uid FROM records WHERE records.uid = start
    ORDER BY epoch DESC LIMIT 1) AS next WHERE next.uid IS NOT NULL
  UNION ALL
  SELECT start, depth + 1, next.* FROM above, LATERAL (
    SELECT owner_kind, owner_name, owner_uid FROM records WHERE records.uid = above.uid
    ORDER BY epoch DESC LIMIT 1) AS next WHERE next.owner_uid IS NOT NULL AND depth < ${CHAIN})
SELECT start, kind, name, uid FROM above ORDER BY start, depth`;

function objectOf(row: Columns): Readonly<Record<string, unknown>> | null {
  const packed = bytesOf(row["object"]);
  return packed === null ? null : JSON.parse(new TextDecoder().decode(unpack(packed)));
}
