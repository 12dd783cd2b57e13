import type { DatabaseSync } from "node:sqlite";
import type { RecordState } from "../fold/state.ts";
import { numberOf, textOf } from "../sqlite.ts";
import { createArena } from "./arena.ts";
import { type Objects, prepareObjects } from "./objects.ts";
import { bodyOf, lifetime, parseBody, parsePast, pastOf } from "./rows.ts";
import { LIVE } from "./schema.ts";

interface Held {
  /** Row id; null while it is new. */
  id: number | null;
  state: RecordState;
  /** The latest object, kept packed with the record; undefined = as it was. */
  object?: Uint8Array;
  dirty: boolean;
}

/** The records that one batch touches: read once, changed in memory in the order of the events, written once. */
export interface Working {
  /** A text as the bytes of an object, which are good for this batch. */
  encode(text: string): Uint8Array;
  /** The latest record of a UID, or null. */
  get(kind: string, uid: string): RecordState | null;
  /** Sets it; `fresh` begins another record of the same UID. */
  set(state: RecordState, object?: Uint8Array, fresh?: boolean): void;
  /** Live records under a name. */
  named(kind: string, namespace: string | null, name: string): readonly RecordState[];
  /** Whether a node's record has ended, and no other of that name lives. */
  isNodeGone(name: string): boolean;
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

  return (nextChange) => {
    arena.reset();
    const current = new Map<string, Held | null>();
    const all: Held[] = [];
    const names = new Map<string, Set<string>>();

    const held = (kind: string, uid: string): Held | null => {
      const key = `${kind}/${uid}`;
      const known = current.get(key);
      if (known !== undefined) return known;
      const row = load.get(uid, kind);
      const body = textOf(row?.["body"]);
      if (row === undefined || body === null) {
        current.set(key, null);
        return null;
      }
      const read = parseBody(body);
      const past = parsePast(textOf(row["past"]), read);
      const found: Held = { id: numberOf(row["id"]), state: { ...read, ...past }, dirty: false };
      current.set(key, found);
      all.push(found);
      return found;
    };

    const working: Working = {
      encode: arena.encode,
      get: (kind, uid) => held(kind, uid)?.state ?? null,
      set: (state, object, fresh = false) => {
        let place = held(state.kind, state.uid);
        if (place === null || fresh) {
          place = { id: null, state, dirty: true };
          current.set(`${state.kind}/${state.uid}`, place);
          all.push(place);
        }
        place.state = state;
        place.dirty = true;
        if (object !== undefined) place.object = object;
        const name = nameKey(state.kind, state.namespace, state.name);
        const uids = names.get(name) ?? new Set();
        names.set(name, uids.add(state.uid));
      },
      named: (kind, namespace, name) => {
        const uids = new Set(names.get(nameKey(kind, namespace, name)));
        for (const row of live.all(kind, name, namespace)) uids.add(textOf(row["uid"]) ?? "");
        return [...uids].flatMap((uid) => {
          const state = held(kind, uid)?.state;
          return state !== undefined && state.end === null && state.name === name && state.namespace === namespace
            ? [state]
            : [];
        });
      },
      isNodeGone: (name) => {
        if (working.named("Node", null, name).length > 0) return false;
        return (names.get(nameKey("Node", null, name))?.size ?? 0) > 0 || anyNode.get(name) !== undefined;
      },
      write: (failed) => {
        const changed = all.filter(({ dirty }) => dirty);
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
    return working;
  };
}

function nameKey(kind: string, namespace: string | null, name: string): string {
  return `${kind}/${namespace ?? ""}/${name}`;
}

/** Result codes of SQLite by which the file, not the record, is at fault: busy, memory, read-only, I/O, corrupt, full, open. */
const FILE_FAULTS = new Set([5, 6, 7, 8, 10, 11, 13, 14, 26]);

function isFileFault(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const code: unknown = Reflect.get(error, "errcode");
  return typeof code === "number" && FILE_FAULTS.has(code & 0xff);
}
