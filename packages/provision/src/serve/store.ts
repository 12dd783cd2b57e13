import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { Outgoing } from "../notify/notifier.ts";

/** What the service was asked to do with an instance and has not done yet. */
export type TaskAction = "work" | "resume" | "rollback" | "retire";

export interface Task {
  readonly instance: string;
  readonly action: TaskAction;
}

/** What a key of a client stands for. */
export interface Reservation {
  readonly instance: string;
  readonly digest: string;
}

export interface Undelivered extends Outgoing {
  readonly attempts: number;
  /** Milliseconds since 1970. */
  readonly due: number;
}

/** How long a key is remembered, milliseconds. Runs are remembered no shorter: else a key would make a second one. */
const REMEMBERED = 7 * 86_400_000;

/**
 * What the service itself must remember beside the journals: tasks, keys of clients, and the outbox. Each write is on
 * the disk when it returns. A task goes and its notifications come in one step, so that neither is lost nor doubled.
 */
export class ServiceStore implements Disposable {
  readonly #database: DatabaseSync;

  /** Throws TRAWLER_UNAVAILABLE. */
  constructor(folder: string) {
    const file = join(folder, "service.db");
    try {
      this.#database = new DatabaseSync(file, { timeout: 5_000 });
      this.#database.exec(`
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        CREATE TABLE IF NOT EXISTS task (instance TEXT PRIMARY KEY, action TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS request
          (key TEXT PRIMARY KEY, instance TEXT NOT NULL, digest TEXT NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS notification (
          place INTEGER PRIMARY KEY, id TEXT NOT NULL, target TEXT NOT NULL, instance TEXT NOT NULL, body TEXT NOT NULL,
          attempts INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL, given_up INTEGER NOT NULL DEFAULT 0,
          UNIQUE (id, target));`);
    } catch (error) {
      throw new TrawlerError("TRAWLER_UNAVAILABLE", `cannot open ${file}: ${errorMessage(error)}`);
    }
  }

  /** Oldest instance first. */
  get tasks(): readonly Task[] {
    const rows = this.#database.prepare("SELECT instance, action FROM task ORDER BY instance").all();
    return rows.map(({ instance, action }) => ({ instance: String(instance), action: actionOf(action) }));
  }

  addTask({ instance, action }: Task): void {
    this.#database.prepare("INSERT OR REPLACE INTO task VALUES (?, ?)").run(instance, action);
  }

  /** The task is done: what is to be told of it takes its place. */
  endTask(instance: string, notifications: readonly (Outgoing & { readonly target: string })[], now: number): void {
    const insert = this.#database.prepare(
      "INSERT OR IGNORE INTO notification (id, target, instance, body, due) VALUES (?, ?, ?, ?, ?)",
    );
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      for (const { id, target, body } of notifications) insert.run(id, target, instance, body, now);
      this.#database.prepare("DELETE FROM task WHERE instance = ?").run(instance);
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Takes a key for an instance. Returns what it stood for already; null where it is new. */
  reserve(key: string, wanted: Reservation, now: number): Reservation | null {
    this.#database.prepare("DELETE FROM request WHERE time < ?").run(now - REMEMBERED);
    const found = this.#database.prepare("SELECT instance, digest FROM request WHERE key = ?").get(key);
    if (found !== undefined) return { instance: String(found["instance"]), digest: String(found["digest"]) };
    const insert = this.#database.prepare("INSERT INTO request VALUES (?, ?, ?, ?)");
    insert.run(key, wanted.instance, wanted.digest, now);
    return null;
  }

  /** Nothing came of it: the key may be used anew. */
  release(key: string): void {
    this.#database.prepare("DELETE FROM request WHERE key = ?").run(key);
  }

  /** The notification that is to be sent to a receiver next. */
  firstDue(target: string): Undelivered | null {
    const row = this.#database
      .prepare(
        "SELECT id, instance, body, attempts, due FROM notification WHERE target = ? AND given_up = 0 ORDER BY due, place LIMIT 1",
      )
      .get(target);
    if (row === undefined) return null;
    const { id, instance, body, attempts, due } = row;
    return {
      id: String(id),
      instance: String(instance),
      body: String(body),
      attempts: Number(attempts),
      due: Number(due),
    };
  }

  delivered(id: string, target: string): void {
    this.#database.prepare("DELETE FROM notification WHERE id = ? AND target = ?").run(id, target);
  }

  postpone(id: string, target: string, due: number): void {
    const update = "UPDATE notification SET attempts = attempts + 1, due = ? WHERE id = ? AND target = ?";
    this.#database.prepare(update).run(Math.ceil(due), id, target);
  }

  giveUp(id: string, target: string): void {
    const update = "UPDATE notification SET given_up = 1, body = '' WHERE id = ? AND target = ?";
    this.#database.prepare(update).run(id, target);
  }

  /** Forgets what was given up before `time`; returns how many that were. */
  forgetGivenUp(time: number): number {
    const drop = this.#database.prepare("DELETE FROM notification WHERE given_up = 1 AND due < ?");
    return Number(drop.run(time).changes);
  }

  /** Drops what waits for other receivers than these; returns how many that were. */
  keepTargets(targets: readonly string[]): number {
    const places = targets.map(() => "?").join(", ");
    const drop = this.#database.prepare(`DELETE FROM notification WHERE target NOT IN (${places})`);
    return Number(drop.run(...targets).changes);
  }

  get outbox(): { readonly waiting: number; readonly givenUp: number } {
    const row = this.#database
      .prepare("SELECT count(*) AS total, coalesce(sum(given_up), 0) AS dead FROM notification")
      .get();
    const dead = Number(row?.["dead"] ?? 0);
    return { waiting: Number(row?.["total"] ?? 0) - dead, givenUp: dead };
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

const ACTIONS: readonly TaskAction[] = ["work", "resume", "rollback", "retire"];

function actionOf(value: unknown): TaskAction {
  return ACTIONS.find((action) => action === value) ?? "resume";
}
