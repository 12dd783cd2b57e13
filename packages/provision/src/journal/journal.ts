import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { Item, Run, RunState } from "./record.ts";
import { newKey, seal, unseal } from "./seal.ts";

/** What a resumed run needs and nobody may see. */
export interface Sealed {
  /** JSON text of each object by its index: what is sent to create it, with its namespace and our marks. */
  readonly requests: readonly string[];
  /** Texts that must never be shown. */
  readonly secrets: readonly string[];
  /** The template's message. */
  readonly message: string | null;
}

export interface LogLine {
  readonly time: string;
  readonly text: string;
}

/** What a line of the log is about, for programs. */
export interface LogData {
  /** An object that changed. */
  readonly object?: Item;
  /** The state that the run came to. */
  readonly state?: RunState;
}

/** A line of the log with its place in it, from 1 upwards: who has read up to a place goes on behind it. */
export interface JournalEvent extends LogLine, LogData {
  readonly id: number;
}

/** Milliseconds in which what became of objects is gathered, to be written at once. */
const GATHER = 50;
/** One statement for all objects of a wave. */
const INTEND =
  "UPDATE object SET value = json_set(value, '$.status', 'creating') WHERE id IN (SELECT value FROM json_each(?))";
/** Changes that are gathered at most. */
const MOST_GATHERED = 256;

/**
 * The record of one run: a SQLite file that says before requests what they may change and after them what they did.
 *
 * What is intended is in the file before its request is sent. What came of it follows within milliseconds, together with
 * others: the end of the process may take it, and a loss of power more than that. Nothing depends on it, as every object
 * that is not known to be there or not to be there is looked for by its marks.
 *
 * Bodies and secret values are encrypted with a key in a file beside it, which is removed when the run is over.
 */
export class Journal implements Disposable {
  readonly #database: DatabaseSync;
  readonly #keyFile: string;
  /** Those that are run for each change. */
  readonly #statements = new Map<string, StatementSync>();
  /** What is not written yet: objects as they are now, and lines with the objects as they were then. */
  readonly #items = new Map<number, Item>();
  readonly #lines: (LogLine & { readonly item: Item })[] = [];
  #timer: NodeJS.Timeout | null = null;

  private constructor(database: DatabaseSync, keyFile: string) {
    this.#database = database;
    this.#keyFile = keyFile;
  }

  /** On the disk when it returns. */
  static create(folder: string, run: Run, items: readonly Item[], sealed: Sealed): Journal {
    const keyFile = join(folder, `${run.instance}.key`);
    const key = newKey();
    writeFileSync(keyFile, key, { mode: 0o600, flag: "wx", flush: true });
    const database = open(fileOf(folder, run.instance), false);
    // Until the file has its form there is nothing in it to go back to.
    database.exec(`
      PRAGMA journal_mode = MEMORY;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      BEGIN;
      CREATE TABLE run (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT NOT NULL, sealed BLOB, cancel INTEGER NOT NULL);
      CREATE TABLE object (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
      CREATE TABLE log (id INTEGER PRIMARY KEY, time TEXT NOT NULL, text TEXT NOT NULL, data TEXT NOT NULL)`);
    const secret = seal(key, JSON.stringify(sealed));
    database.prepare("INSERT INTO run VALUES (1, ?, ?, 0)").run(JSON.stringify(run), secret);
    const insert = database.prepare("INSERT INTO object VALUES (?, ?)");
    for (const item of items) insert.run(item.index, JSON.stringify(item));
    database.exec("COMMIT; PRAGMA synchronous = NORMAL");
    return new Journal(database, keyFile);
  }

  /** Throws TRAWLER_UNAVAILABLE where there is none of that instance. */
  static open(folder: string, instance: string, readOnly = false): Journal {
    const database = open(fileOf(folder, instance), true, readOnly);
    if (!readOnly) database.exec("PRAGMA synchronous = NORMAL");
    return new Journal(database, join(folder, `${instance}.key`));
  }

  get run(): Run {
    return JSON.parse(this.#column("SELECT value FROM run"));
  }

  get items(): readonly Item[] {
    this.flush();
    const rows = this.#database.prepare("SELECT value FROM object ORDER BY id").all();
    return rows.map(({ value }) => JSON.parse(String(value)));
  }

  get log(): readonly LogLine[] {
    this.flush();
    const rows = this.#database.prepare("SELECT time, text FROM log ORDER BY id").all();
    return rows.map(({ time, text }) => ({ time: String(time), text: String(text) }));
  }

  /** Up to `limit` events behind the one of this id, oldest first. */
  events(after: number, limit: number): readonly JournalEvent[] {
    this.flush();
    const select = this.#database.prepare("SELECT id, time, text, data FROM log WHERE id > ? ORDER BY id LIMIT ?");
    return select.all(after, limit).map(({ id, time, text, data }) => {
      const more: LogData = JSON.parse(String(data));
      return { id: Number(id), time: String(time), text: String(text), ...more };
    });
  }

  /** The id of the last event; 0 where there is none. */
  get lastEvent(): number {
    this.flush();
    return Number(this.#database.prepare("SELECT max(id) AS id FROM log").get()?.["id"] ?? 0);
  }

  /** How many objects the run has. */
  get size(): number {
    return Number(this.#database.prepare("SELECT count(*) AS count FROM object").get()?.["count"] ?? 0);
  }

  /** Null where the run is over and nothing of it can be created any more. */
  get sealed(): Sealed | null {
    const bytes = this.#database.prepare("SELECT sealed FROM run").get()?.["sealed"];
    if (!(bytes instanceof Uint8Array)) return null;
    try {
      return JSON.parse(unseal(readFileSync(this.#keyFile), bytes));
    } catch {
      return null;
    }
  }

  get cancelRequested(): boolean {
    return this.#database.prepare("SELECT cancel FROM run").get()?.["cancel"] === 1;
  }

  requestCancel(wanted = true): void {
    this.#database.prepare("UPDATE run SET cancel = ?").run(wanted ? 1 : 0);
  }

  writeRun(run: Run): void {
    this.flush();
    this.#database.prepare("UPDATE run SET value = ?").run(JSON.stringify(run));
  }

  /** Requests for these objects are about to be sent. In the file when it returns. */
  intend(indices: readonly number[]): void {
    this.flush();
    this.#statement(INTEND).run(JSON.stringify(indices));
  }

  /** What became of an object, and what the log says of it: written within milliseconds, both or neither. */
  writeItem(item: Item, line: LogLine | null = null): void {
    this.#items.set(item.index, item);
    if (line !== null) this.#lines.push({ ...line, item });
    if (this.#lines.length >= MOST_GATHERED) this.flush();
    else this.#timer ??= setTimeout(() => this.#flushLater(), GATHER);
  }

  writeLog(line: LogLine, data: LogData = {}): void {
    this.flush();
    this.#insertLine(line, JSON.stringify(data));
  }

  /** Writes what was gathered. Where that throws, it stays for the next time. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#items.size === 0) return;
    const update = this.#statement("UPDATE object SET value = ? WHERE id = ?");
    this.#statement("BEGIN IMMEDIATE").run();
    try {
      for (const item of this.#items.values()) update.run(JSON.stringify(item), item.index);
      for (const { item, ...line } of this.#lines) this.#insertLine(line, JSON.stringify({ object: item }));
      this.#statement("COMMIT").run();
    } catch (error) {
      this.#statement("ROLLBACK").run();
      throw error;
    }
    this.#items.clear();
    this.#lines.length = 0;
  }

  #flushLater(): void {
    try {
      this.flush();
    } catch {
      // It is kept: the next write is one of the run's own, and tells.
    }
  }

  #insertLine({ time, text }: LogLine, data: string): void {
    this.#statement("INSERT INTO log (time, text, data) VALUES (?, ?, ?)").run(time, text, data);
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  /** Destroys what was encrypted. */
  forget(): void {
    this.flush();
    rmSync(this.#keyFile, { force: true });
    this.#database.exec("UPDATE run SET sealed = NULL");
  }

  #column(sql: string): string {
    return String(this.#database.prepare(sql).get()?.["value"] ?? "null");
  }

  [Symbol.dispose](): void {
    try {
      this.flush();
    } finally {
      this.#database.close();
    }
  }
}

export function fileOf(folder: string, instance: string): string {
  return join(folder, `${instance}.journal`);
}

function open(file: string, existing: boolean, readOnly = false): DatabaseSync {
  try {
    const database = new DatabaseSync(file, { readOnly, timeout: 5_000 });
    if (existing) database.prepare("SELECT 1 FROM run").get();
    return database;
  } catch (error) {
    throw new TrawlerError("TRAWLER_UNAVAILABLE", `cannot open the journal ${file}: ${errorMessage(error)}`);
  }
}
