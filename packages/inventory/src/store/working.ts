import type { DatabaseSync } from "node:sqlite";
import type { RecordState } from "../fold/state.ts";
import { numberOf, textOf } from "../sqlite.ts";
import { createArena } from "./arena.ts";
import { createMemory, type Held, type RecordSource, type Records } from "./memory.ts";
import { type Objects, prepareObjects } from "./objects.ts";
import { bodyOf, lifetime, parseBody, parsePast, pastOf } from "./rows.ts";
import { LIVE } from "./schema.ts";

/** The records that one batch touches: read once, changed in memory in the order of the events, written once. */
export interface Working extends Records {
  /** A text as the bytes of an object, which are good for this batch. */
  encode(text: string): Uint8Array;
  /** Writes what has changed; `failed` is told of each record that cannot be written. */
  write(failed: (state: RecordState, error: unknown) => void): void;
}

export type WorkingFactory = (nextChange: () => number) => Working;

/** Prepares the statements once for all batches. */
export function prepareWorking(database: DatabaseSync): WorkingFactory {
  const beginObjects = prepareObjects(database);
  const arena = createArena();
  const load = database.prepare(
    `SELECT id, body, past FROM records LEFT JOIN details ON record = id
     WHERE uid = ? AND kind = ? ORDER BY epoch DESC LIMIT 1`,
  );
  const live = database.prepare(
    `SELECT uid FROM records WHERE ended = ${LIVE} AND kind = ? AND name = ? AND namespace IS ?`,
  );
  const anyNode = database.prepare("SELECT 1 FROM records WHERE kind = 'Node' AND node = ? LIMIT 1");
  const insert = database.prepare(
    `INSERT INTO records (kind, uid, epoch, namespace, name, node, owner_kind, owner_name, owner_uid,
       started, ended, changed, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = database.prepare(
    `UPDATE records SET namespace = ?, name = ?, node = ?, owner_kind = ?, owner_name = ?, owner_uid = ?,
       started = ?, ended = ?, changed = ?, body = ? WHERE id = ?`,
  );

  const save = (held: Held, change: number, objects: Objects): void => {
    const { state } = held;
    const owner = state.owners[0];
    const [started, ended] = lifetime(state);
    const columns = [
      state.namespace,
      state.name,
      state.node,
      owner?.kind ?? null,
      owner?.name ?? null,
      owner?.uid ?? null,
      started,
      ended,
      change,
      JSON.stringify(bodyOf(state)),
    ] as const;
    const isNew = held.id === null;
    if (held.id === null) {
      held.id = numberOf(insert.run(state.kind, state.uid, state.epoch, ...columns).lastInsertRowid);
    } else update.run(...columns, held.id);
    const traits = { isNew, isFinal: state.end !== null };
    objects.save(held.id, pastOf(state), held.object ?? null, traits);
  };

  const saveAll = (places: readonly Held[], nextChange: () => number): void => {
    const objects = beginObjects();
    for (const place of places) save(place, nextChange(), objects);
    objects.flush();
  };

  /** One by one, so that the one that cannot be written is found and left out. */
  const saveEach = (
    places: readonly Held[],
    nextChange: () => number,
    failed: (state: RecordState, error: unknown) => void,
  ): void => {
    for (const place of places) {
      database.exec("SAVEPOINT record");
      try {
        saveAll([place], nextChange);
      } catch (error) {
        if (isFileFault(error)) throw error;
        database.exec("ROLLBACK TO record");
        failed(place.state, error);
      }
      database.exec("RELEASE record");
    }
  };

  const source: RecordSource = {
    load: (kind, uid) => {
      const row = load.get(uid, kind);
      const body = textOf(row?.["body"]);
      if (row === undefined || body === null) return null;
      const read = parseBody(body);
      return { id: numberOf(row["id"]), state: { ...read, ...parsePast(textOf(row["past"]), read) } };
    },
    named: (kind, namespace, name) => live.all(kind, name, namespace).map((row) => textOf(row["uid"]) ?? ""),
    hasNode: (name) => anyNode.get(name) !== undefined,
  };

  return (nextChange) => {
    arena.reset();
    const memory = createMemory(source);
    return {
      ...memory,
      encode: arena.encode,
      write: (failed) => {
        const changed = memory.changed();
        const ids = changed.map(({ id }) => id);
        database.exec("SAVEPOINT batch");
        try {
          saveAll(changed, nextChange);
        } catch (error) {
          if (isFileFault(error)) throw error;
          database.exec("ROLLBACK TO batch");
          for (const [index, place] of changed.entries()) place.id = ids[index] ?? null;
          saveEach(changed, nextChange, failed);
        }
        database.exec("RELEASE batch");
      },
    };
  };
}

/** Result codes of SQLite by which the file, not the record, is at fault: busy, memory, read-only, I/O, corrupt, full, open. */
const FILE_FAULTS = new Set([5, 6, 7, 8, 10, 11, 13, 14, 26]);

function isFileFault(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const code: unknown = Reflect.get(error, "errcode");
  return typeof code === "number" && FILE_FAULTS.has(code & 0xff);
}
