import type { DatabaseSync } from "node:sqlite";
import type { InventoryRecord, RecordDetail, RecordOwner } from "../record.ts";
import { numberOf, openForReading, textOf } from "../sqlite.ts";
import { asGap, asPosition, CHAIN, isComplete, joinFigures, presentRows } from "./answers.ts";
import { readFeed } from "./feed.ts";
import { prepareLoading } from "./objects.ts";
import { countPurgeable } from "./purge.ts";
import { changedRows, findRows, type Row, rowsOf } from "./query.ts";
import { parsePast } from "./rows.ts";
import { checkSchema, LIVE, readState } from "./schema.ts";
import type { Change, Gap, SqliteStoreReader } from "./store.ts";

/** Opens a store's file beside its writer. Errors: TRAWLER_UNAVAILABLE, TRAWLER_REFUSED. */
export function openStoreReader(file: string): SqliteStoreReader {
  const database = openForReading(file);
  try {
    return createReader(database, checkSchema(database, null));
  } catch (error) {
    database.close();
    throw error;
  }
}

export function createReader(database: DatabaseSync, cluster: string): SqliteStoreReader {
  const gapsOf = (between?: readonly [number, number]): readonly Gap[] =>
    database
      .prepare("SELECT * FROM gaps WHERE ended >= ? AND began <= ? ORDER BY id")
      .all(between?.[0] ?? 0, between?.[1] ?? LIVE)
      .map(asGap);
  const ownerOf = database.prepare(
    "SELECT owner_kind, owner_name, owner_uid FROM records WHERE uid = ? ORDER BY epoch DESC LIMIT 1",
  );

  const byUid = database.prepare("SELECT 1 FROM records WHERE uid = ? AND kind = ? LIMIT 1");

  /** The chain above the direct owner, as far as its records are known. */
  const chain = (owners: readonly RecordOwner[], seen: Map<string, readonly RecordOwner[]>): readonly RecordOwner[] => {
    const direct = owners[0];
    if (direct === undefined) return owners;
    const known = seen.get(direct.uid);
    if (known !== undefined) return [direct, ...known];
    const above: RecordOwner[] = [];
    for (let uid = direct.uid; above.length < CHAIN; ) {
      const row = ownerOf.get(uid);
      const owner = {
        kind: textOf(row?.["owner_kind"]),
        name: textOf(row?.["owner_name"]),
        uid: textOf(row?.["owner_uid"]),
      };
      if (owner.kind === null || owner.name === null || owner.uid === null) break;
      above.push({ kind: owner.kind, name: owner.name, uid: owner.uid });
      uid = owner.uid;
    }
    seen.set(direct.uid, above);
    return [direct, ...above];
  };

  const present = (rows: readonly Row[]): readonly InventoryRecord[] => {
    const seen = new Map<string, readonly RecordOwner[]>();
    return presentRows(rows, cluster, gapsOf(), (owners) => chain(owners, seen));
  };

  const loadDetails = database.prepare("SELECT past, block, place, digest FROM details WHERE record = ?");
  const loadObject = prepareLoading(database);
  const loadFigures = database.prepare("SELECT frame FROM figures WHERE uid = ? ORDER BY part");

  const detail = (row: Row, record: InventoryRecord): RecordDetail => {
    const details = loadDetails.get(row.id);
    const past = parsePast(textOf(details?.["past"]), record);
    return { ...record, ...past, object: loadObject(details), figures: joinFigures(loadFigures.all(record.uid)) };
  };

  const changes = (after: number, limit: number): readonly Change[] => {
    const rows = changedRows(database, after, limit);
    return present(rows).map((record, index) => ({ cursor: rows[index]?.changed ?? after, record }));
  };

  const reader: SqliteStoreReader = {
    query: (query) => {
      const { rows, more } = findRows(database, query);
      const gaps = gapsOf(query.between ?? [0, LIVE]).filter(
        ({ kind }) => query.kind === undefined || kind === query.kind,
      );
      const complete = isComplete(query, gaps);
      return { records: present(rows), complete, gaps, next: more ? (rows.at(-1)?.id ?? null) : null };
    },
    show: (uid) => {
      const rows = rowsOf(database, uid);
      const records = present(rows);
      return rows.flatMap((row, index) => {
        const record = records[index];
        return record === undefined ? [] : [detail(row, record)];
      });
    },
    gaps: gapsOf,
    status: () => {
      const count = (sql: string): number => numberOf(database.prepare(sql).get()?.["n"]);
      return {
        cluster,
        applied: count("SELECT max(sequence) AS n FROM applied"),
        live: count(`SELECT count(*) AS n FROM records WHERE ended = ${LIVE}`),
        deleted: count(`SELECT count(*) AS n FROM records WHERE ended < ${LIVE}`),
        gaps: count("SELECT count(*) AS n FROM gaps"),
        staleIgnored: Number(readState(database, "stale") ?? 0),
        quarantined: Number(readState(database, "quarantined") ?? 0),
        positions: database.prepare("SELECT * FROM positions ORDER BY stream").all().map(asPosition),
      };
    },
    has: (kind, uid) => byUid.get(uid, kind) !== undefined,
    known: function* (kind) {
      const rows = database
        .prepare(`SELECT uid, body ->> 'resourceVersion' AS version FROM records WHERE kind = ? AND ended = ${LIVE}`)
        .iterate(kind);
      for (const row of rows) yield { uid: textOf(row["uid"]) ?? "", resourceVersion: textOf(row["version"]) };
    },
    position: (stream) => {
      const row = database.prepare("SELECT * FROM positions WHERE stream = ?").get(stream);
      return row === undefined ? null : asPosition(row);
    },
    applied: (queue) =>
      numberOf(database.prepare("SELECT sequence FROM applied WHERE queue = ?").get(queue)?.["sequence"]),
    changes,
    feed: (since, limit) => readFeed(database, cluster, changes, since, limit),
    purgeable: (retention, now) => countPurgeable(database, retention, now),
    [Symbol.dispose]: () => database.close(),
    [Symbol.asyncDispose]: async () => database.close(),
  };
  return reader;
}
