import { createHash } from "node:crypto";
import { pack } from "../../compress.ts";
import type { QueuedEvent } from "../../events.ts";
import type { RecordState } from "../../fold/state.ts";
import { numberOf, textOf } from "../../sqlite.ts";
import { createMemory, type Held, nameKey, type Stored } from "../memory.ts";
import { bodyOf, lifetime, parseBody, parsePast, pastOf } from "../rows.ts";
import { LIVE } from "../schema.ts";
import type { Working } from "../working.ts";
import { isDataFault, type Sql, type Value } from "./session.ts";
import { decodeText, encodeNullable, encodeText } from "./text.ts";

/** Larger objects have a digest in their record. PostgreSQL keeps all of them out of line by itself. */
const OUT_OF_LINE = 64 * 1024;
/** Records of one statement: 65,535 values are the protocol's limit. */
const ROWS = 200;

/** What a fold may ask for, as far as it has been read: folding itself waits for nothing. */
export interface Loaded {
  /** Null = there is none. */
  readonly records: Map<string, Stored | null>;
  /** UIDs of live records by kind, namespace and name. */
  readonly names: Map<string, readonly string[]>;
  /** Whether there is any record of a node, live or gone. */
  readonly nodes: Map<string, boolean>;
}

/** What a fold asked for and was not read. */
export interface Missing {
  readonly names: Map<string, Name>;
  readonly nodes: Set<string>;
}

interface Name {
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}

/** Reads the records of a part's events, and the nodes of those that a list lacks. */
export async function loadFor(sql: Sql, events: readonly QueuedEvent[]): Promise<Loaded> {
  const loaded: Loaded = { records: new Map(), names: new Map(), nodes: new Map() };
  const wanted = new Map<string, readonly [string, string]>();
  for (const { event } of events) {
    if (!("uid" in event)) continue;
    const kind = "kind" in event ? event.kind : "Pod";
    wanted.set(`${kind}/${event.uid}`, [kind, event.uid]);
  }
  await loadRecords(sql, loaded, [...wanted.values()]);
  const nodes: Missing = { names: new Map(), nodes: new Set() };
  for (const { event } of events) {
    if (event.type !== "absent") continue;
    const node = loaded.records.get(`${event.kind}/${event.uid}`)?.state.node;
    if (node == null) continue;
    nodes.names.set(nameKey("Node", null, node), { kind: "Node", namespace: null, name: node });
    nodes.nodes.add(node);
  }
  await loadMissing(sql, loaded, nodes);
  return loaded;
}

/** Reads what was missing. True where there is something, so that the fold has to be done again. */
export async function loadMissing(sql: Sql, loaded: Loaded, missing: Missing): Promise<boolean> {
  let found = false;
  if (missing.names.size > 0) {
    const names = [...missing.names.values()];
    for (const key of missing.names.keys()) loaded.names.set(key, []);
    const rows = await sql(
      `SELECT kind, uid, namespace, name FROM records JOIN unnest($1::text[], $2::text[], $3::text[]) AS wanted (k, s, n)
       ON kind = k AND name = n AND namespace IS NOT DISTINCT FROM nullif(s, '') WHERE ended = ${LIVE}`,
      [
        names.map(({ kind }) => encodeText(kind)),
        names.map(({ namespace }) => encodeText(namespace ?? "")),
        names.map(({ name }) => encodeText(name)),
      ],
    );
    const wanted = rows.map((row): readonly [string, string] => {
      const [kind, uid] = [decodeText(textOf(row["kind"]) ?? ""), decodeText(textOf(row["uid"]) ?? "")];
      const namespace = textOf(row["namespace"]);
      const key = nameKey(kind, namespace && decodeText(namespace), decodeText(textOf(row["name"]) ?? ""));
      loaded.names.set(key, [...(loaded.names.get(key) ?? []), uid]);
      return [kind, uid];
    });
    await loadRecords(
      sql,
      loaded,
      wanted.filter(([kind, uid]) => !loaded.records.has(`${kind}/${uid}`)),
    );
    found = rows.length > 0;
  }
  if (missing.nodes.size > 0) {
    for (const node of missing.nodes) loaded.nodes.set(node, false);
    const rows = await sql("SELECT DISTINCT node FROM records WHERE kind = 'Node' AND node = ANY($1::text[])", [
      [...missing.nodes].map(encodeText),
    ]);
    for (const row of rows) loaded.nodes.set(decodeText(textOf(row["node"]) ?? ""), true);
    found ||= rows.length > 0;
  }
  return found;
}

async function loadRecords(sql: Sql, loaded: Loaded, wanted: readonly (readonly [string, string])[]): Promise<void> {
  if (wanted.length === 0) return;
  for (const [kind, uid] of wanted) loaded.records.set(`${kind}/${uid}`, null);
  const rows = await sql(
    `SELECT DISTINCT ON (uid, kind) id, kind, uid, body, past FROM records
     JOIN unnest($1::text[], $2::text[]) AS wanted (k, u) ON uid = u AND kind = k ORDER BY uid, kind, epoch DESC`,
    [wanted.map(([kind]) => encodeText(kind)), wanted.map(([, uid]) => encodeText(uid))],
  );
  for (const row of rows) {
    const body = parseBody(textOf(row["body"]) ?? "{}");
    const state = { ...body, ...parsePast(textOf(row["past"]), body) };
    loaded.records.set(`${state.kind}/${state.uid}`, { id: numberOf(row["id"]), state });
  }
}

/** The records of one part, in memory. `write` runs when the fold is done. */
export interface MemoryWorking extends Omit<Working, "write"> {
  readonly missing: Missing;
  /**
   * `next`: numbers for changes and for new records. `failed` is told of each record that cannot be written. Returns by
   * how many there are more records of what is gone.
   */
  write(sql: Sql, next: Numbers, failed: (state: RecordState, error: unknown) => void): Promise<number>;
}

export interface Numbers {
  change(): number;
  record(): number;
}

export function createWorking(loaded: Loaded): MemoryWorking {
  const encoder = new TextEncoder();
  const missing: Missing = { names: new Map(), nodes: new Set() };
  const memory = createMemory({
    load: (kind, uid) => loaded.records.get(`${kind}/${uid}`) ?? null,
    named: (kind, namespace, name) => {
      const key = nameKey(kind, namespace, name);
      const stored = loaded.names.get(key);
      if (stored === undefined) missing.names.set(key, { kind, namespace, name });
      return stored ?? [];
    },
    hasNode: (name) => {
      const stored = loaded.nodes.get(name);
      if (stored === undefined) missing.nodes.add(name);
      return stored === true;
    },
  });
  return {
    ...memory,
    missing,
    encode: (text) => encoder.encode(text),
    write: async (sql, next, failed) => {
      const changed = memory.changed();
      const rows = changed.map((place) => rowOf(place, next));
      for (let at = 0; at < rows.length; at += ROWS) {
        await save(sql, rows.slice(at, at + ROWS), (index, error) => {
          const place = changed[at + index];
          if (place === undefined) return;
          place.dirty = false;
          failed(place.state, error);
        });
      }
      const written = changed.filter(({ dirty }) => dirty);
      return written.reduce((sum, { state, ended }) => sum + Number(state.end !== null) - Number(ended), 0);
    },
  };
}

/** All at once; where the data is at fault one by one, so that the one that cannot be written is found and left out. */
async function save(
  sql: Sql,
  rows: readonly (readonly Value[])[],
  failed: (index: number, error: unknown) => void,
): Promise<void> {
  await sql("SAVEPOINT rows");
  try {
    await saveRows(sql, rows);
  } catch (error) {
    if (!isDataFault(error)) throw error;
    await sql("ROLLBACK TO rows");
    if (rows.length === 1) failed(0, error);
    else for (const [index, row] of rows.entries()) await save(sql, [row], (_, cause) => failed(index, cause));
  }
  await sql("RELEASE rows");
}

const NAMES =
  "id, kind, uid, epoch, namespace, name, node, owner_kind, owner_name, owner_uid, version, started, ended, changed, body, past, digest, object";
const KEPT = ["id", "kind", "uid", "epoch", "digest", "object"];
const UPDATES = NAMES.split(", ")
  .filter((name) => !KEPT.includes(name))
  .map((name) => `${name} = excluded.${name}`)
  .join(", ");

async function saveRows(sql: Sql, rows: readonly (readonly Value[])[]): Promise<void> {
  if (rows.length === 0) return;
  await sql(
    `INSERT INTO records (${NAMES}) VALUES ${placeholders(rows)} ON CONFLICT (id) DO UPDATE SET ${UPDATES},
     digest = CASE WHEN excluded.object IS NULL THEN records.digest ELSE excluded.digest END,
     object = coalesce(excluded.object, records.object)`,
    rows.flat(),
  );
}

/** `($1, $2), ($3, $4)`. */
export function placeholders(rows: readonly (readonly unknown[])[]): string {
  let count = 0;
  const one = (): string => {
    count += 1;
    return `$${count}`;
  };
  return rows.map((row) => `(${row.map(one).join(", ")})`).join(", ");
}

function rowOf({ id, state, object }: Held, next: Numbers): readonly Value[] {
  const owner = state.owners[0];
  const [started, ended] = lifetime(state);
  const isLarge = object !== undefined && object.length > OUT_OF_LINE;
  return [
    id ?? next.record(),
    encodeText(state.kind),
    encodeText(state.uid),
    state.epoch,
    encodeNullable(state.namespace),
    encodeText(state.name),
    encodeNullable(state.node),
    encodeNullable(owner?.kind ?? null),
    encodeNullable(owner?.name ?? null),
    encodeNullable(owner?.uid ?? null),
    encodeNullable(state.resourceVersion),
    Math.trunc(started),
    Math.trunc(ended),
    next.change(),
    JSON.stringify(bodyOf(state)),
    pastOf(state),
    isLarge ? createHash("sha256").update(object).digest("hex") : null,
    object === undefined ? null : pack(object),
  ];
}
