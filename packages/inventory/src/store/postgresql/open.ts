import { randomUUID } from "node:crypto";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { QueuedEvent } from "../../events.ts";
import { numberOf } from "../../sqlite.ts";
import { applyEvents, type Tally } from "../apply.ts";
import { KEPT_QUEUES, lastOf, PART } from "../open.ts";
import type { Applied, Batch, Retention, Store } from "../store.ts";
import { purgeStep } from "./purge.ts";
import { openPostgresqlReader } from "./reader.ts";
import { prepareSchema } from "./schema.ts";
import { type Columns, connect, IDLE_MILLISECONDS, keepSession, type Session, type Sql, stateOf } from "./session.ts";
import type { PostgresqlSettings } from "./settings.ts";
import { createSide, loadSide } from "./side.ts";
import { createWorking, loadFor, loadMissing, type Numbers } from "./working.ts";

/** Folds of one part until all that it asks for has been read: each reads more, and one event asks for little. */
const FOLDS = 20;
/** SQLSTATE of a lock that was not had in time. */
const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Opens, or makes, the store of a cluster in one schema, and takes the right to write: all writers with a lower token,
 * and an earlier one with the same, are refused from here on. Without a Lease (token 0) a second writer is refused while
 * the first is connected.
 */
export async function openPostgresqlStore(
  settings: PostgresqlSettings,
  cluster: string,
  token: number,
): Promise<Store> {
  const writer = randomUUID();

  const open = async (): Promise<Session> => {
    const made = await connect(settings, "writer");
    try {
      if (token === 0) await lock(made, settings.schema);
      return made;
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
  };

  const first = await open();
  const kept = keepSession(first, open);

  const transaction = async <T>(run: (sql: Sql, store: Columns) => Promise<T>): Promise<T> => {
    const session = await kept.current();
    const { sql } = session;
    await sql("BEGIN");
    try {
      const [store = {}] = await sql("SELECT * FROM store FOR UPDATE");
      const result = await run(sql, store);
      await sql("COMMIT");
      return result;
    } catch (error) {
      if (!session.broken()) await sql("ROLLBACK");
      throw error;
    }
  };

  /** In the transaction whose row lock holds off all other writers. */
  const checkRight = (store: Columns, ours: number): void => {
    const highest = numberOf(store["token"]);
    if (ours < highest) {
      throw new TrawlerError("TRAWLER_BUSY", `another writer has taken over (token ${highest}, ours ${ours})`);
    }
    if (ours === highest && store["writer"] !== writer) {
      throw new TrawlerError("TRAWLER_BUSY", `another writer has taken over with the same token (${ours})`);
    }
  };

  const raise = async (sql: Sql, store: Columns, wanted: number): Promise<boolean> => {
    if (wanted < numberOf(store["token"])) return false;
    await sql("UPDATE store SET token = $1, writer = $2", [wanted, writer]);
    return true;
  };

  try {
    await prepareSchema(first, settings.schema, cluster);
    const take = () =>
      transaction(async (sql, store) => {
        const highest = numberOf(store["token"]);
        return (await raise(sql, store, token)) ? null : highest;
      });
    const taken = await whenUnlocked(take);
    if (taken !== null) {
      throw new TrawlerError("TRAWLER_BUSY", `another writer has taken over (token ${taken}, ours ${token})`);
    }
    const reader = await openPostgresqlReader(settings);
    return {
      ...reader,
      apply: (batch) =>
        transaction(async (sql, store) => {
          if (batch.token > numberOf(store["token"])) await raise(sql, store, batch.token);
          else checkRight(store, batch.token);
          return applyInside(sql, store, batch);
        }),
      fence: (wanted) => transaction((sql, store) => raise(sql, store, wanted)),
      purge: (retention: Retention, now, limit) =>
        transaction(async (sql, store) => {
          checkRight(store, Math.max(token, numberOf(store["writer"] === writer ? store["token"] : 0)));
          return purgeStep(sql, store, retention, now, limit);
        }),
      [Symbol.asyncDispose]: async () => {
        await reader[Symbol.asyncDispose]();
        await kept[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await kept[Symbol.asyncDispose]();
    throw error;
  }
}

/** A predecessor that was paused within its batch holds the row until PostgreSQL ends its connection. */
async function whenUnlocked<T>(take: () => Promise<T>): Promise<T> {
  const until = performance.now() + 2 * IDLE_MILLISECONDS;
  for (;;) {
    try {
      return await take();
    } catch (error) {
      if (stateOf(error) !== LOCK_NOT_AVAILABLE || performance.now() > until) throw error;
    }
  }
}

/** A writer without a Lease holds this while it is connected. */
async function lock({ sql, shown }: Session, schema: string): Promise<void> {
  const [row] = await sql("SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS held", [
    `trawler inventory ${schema}`,
  ]);
  if (row?.["held"] === true) return;
  throw new TrawlerError(
    "TRAWLER_BUSY",
    `${shown}: another collector writes this inventory; several replicas need lease: in their configuration`,
  );
}

async function applyInside(sql: Sql, store: Columns, batch: Batch): Promise<Applied> {
  const [row] = await sql("SELECT sequence FROM applied WHERE queue = $1", [batch.queue]);
  const from = numberOf(row?.["sequence"]);
  const events = batch.events.filter(({ sequence }) => sequence > from);
  const last = events.at(-1)?.sequence;
  if (last === undefined) return { sequence: from, changed: 0, staleIgnored: 0, quarantined: 0 };
  const counts = { change: numberOf(store["change"]), record: numberOf(store["record"]) };
  const next = (name: keyof typeof counts) => (): number => {
    counts[name] += 1;
    return counts[name];
  };
  const numbers: Numbers = { change: next("change"), record: next("record") };
  const tally = { changed: 0, staleIgnored: 0, quarantined: 0 };
  let ended = 0;
  for (let at = 0; at < events.length; at += PART) {
    const { tally: told, ended: more } = await applyPart(sql, events.slice(at, at + PART), numbers);
    ended += more;
    tally.changed += told.changed;
    tally.staleIgnored += told.staleIgnored;
    tally.quarantined += told.quarantined;
  }
  await sql(
    `INSERT INTO applied SELECT $1, $2::bigint, coalesce(max(used), 0) + 1 FROM applied
     ON CONFLICT (queue) DO UPDATE SET sequence = excluded.sequence, used = excluded.used`,
    [batch.queue, last],
  );
  if (from === 0) {
    await sql("DELETE FROM applied WHERE queue IN (SELECT queue FROM applied ORDER BY used DESC OFFSET $1)", [
      KEPT_QUEUES,
    ]);
  }
  await sql(
    "UPDATE store SET change = $1, record = $2, stale = stale + $3, quarantined = quarantined + $4, ended = ended + $5",
    [counts.change, counts.record, tally.staleIgnored, tally.quarantined, ended],
  );
  return { sequence: last, ...tally };
}

interface Folded {
  readonly tally: Tally;
  /** By how many there are more records of what is gone. */
  readonly ended: number;
}

/**
 * Folds without waiting, by what has been read. Where the fold asked for more, and there is more, it is done again:
 * that is rare, as few new objects have a live namesake.
 */
async function applyPart(sql: Sql, part: readonly QueuedEvent[], numbers: Numbers): Promise<Folded> {
  const loaded = await loadFor(sql, part);
  const loadedSide = await loadSide(sql, part);
  for (let fold = 1; ; fold += 1) {
    const tally: Tally = { changed: 0, staleIgnored: 0, quarantined: 0 };
    const working = createWorking(loaded);
    const side = createSide(loadedSide);
    applyEvents(part, { ...working, write: unused }, { ...side, write: unused }, tally);
    if ((await loadMissing(sql, loaded, working.missing)) && fold < FOLDS) continue;
    const ended = await working.write(sql, numbers, (state, error) => {
      tally.quarantined += 1;
      side.quarantine(lastOf(part, state.uid), `cannot be written: ${errorMessage(error)}`);
    });
    await side.write(sql);
    return { tally, ended };
  }
}

/** Folding writes nothing. */
function unused(): never {
  throw new TrawlerError("TRAWLER_LIMIT", "a fold does not write");
}
