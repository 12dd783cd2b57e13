import type { DatabaseSync } from "node:sqlite";
import { compareVersions } from "@trawler/kube";
import { pack } from "../compress.ts";
import type { FiguresEvent, GapEvent, InventoryEvent, QueuedEvent, SearchedEvent } from "../events.ts";
import { numberOf, textOf } from "../sqlite.ts";
import { asPosition } from "./answers.ts";
import type { StreamPosition } from "./store.ts";

export const QUARANTINE_ROWS: number = 1000;
export const QUARANTINE_BYTES: number = 64 * 1024;

/** What a batch writes beside the records. */
export interface Side {
  position(event: InventoryEvent): void;
  gap(event: GapEvent): void;
  searched(event: SearchedEvent): void;
  figures(event: FiguresEvent, frame: Readonly<Record<string, unknown>>): void;
  quarantine(queued: QueuedEvent, reason: string): void;
  /** Writes the positions that the batch has moved. */
  write(): void;
}

export function prepareSide(database: DatabaseSync): () => Side {
  const loadPosition = database.prepare("SELECT * FROM positions WHERE stream = ?");
  const savePosition = database.prepare(
    `INSERT INTO positions VALUES (?, ?, ?, ?) ON CONFLICT (stream)
     DO UPDATE SET version = excluded.version, epoch = excluded.epoch, received = excluded.received`,
  );
  const insertGap = database.prepare(
    `INSERT INTO gaps (stream, kind, reason, began, ended, from_version, to_version, note)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const noteGap = database.prepare(
    "UPDATE gaps SET note = note || '; ' || ? WHERE id = (SELECT max(id) FROM gaps WHERE stream = ?)",
  );
  const insertQuarantine = database.prepare(
    "INSERT INTO quarantine (sequence, stream, uid, reason, payload) VALUES (?, ?, ?, ?, ?)",
  );
  const trimQuarantine = database.prepare("DELETE FROM quarantine WHERE id <= ?");
  const timeOf = database.prepare("SELECT max(time) AS time FROM figures WHERE uid = ?");
  const dropFigures = database.prepare("DELETE FROM figures WHERE uid = ? AND time <> ?");
  const saveFigures = database.prepare("INSERT OR REPLACE INTO figures VALUES (?, ?, ?, ?)");

  return () => {
    const moved = new Map<string, StreamPosition>();

    const current = (stream: string): StreamPosition | null => {
      const row = moved.has(stream) ? undefined : loadPosition.get(stream);
      return moved.get(stream) ?? (row === undefined ? null : asPosition(row));
    };

    return {
      position: (event) => {
        const after = movedPosition(event, current(event.stream));
        if (after !== null) moved.set(event.stream, after);
      },
      gap: (event) => {
        const { stream, kind, reason, from, to, fromVersion, toVersion, note } = event;
        insertGap.run(stream, kind, reason, from, to, fromVersion, toVersion, note);
      },
      searched: ({ note, stream }) => void noteGap.run(note, stream),
      figures: (event, frame) => {
        const time = String(frame["time"]);
        if ((textOf(timeOf.get(event.uid)?.["time"]) ?? "") > time) return;
        dropFigures.run(event.uid, time);
        saveFigures.run(event.uid, partOf(frame), time, pack(event.payload));
      },
      quarantine: ({ sequence, event }, reason) => {
        const payload = "payload" in event ? pack(event.payload.slice(0, QUARANTINE_BYTES)) : null;
        const uid = "uid" in event ? event.uid : null;
        const { lastInsertRowid } = insertQuarantine.run(sequence, event.stream, uid, reason.slice(0, 500), payload);
        trimQuarantine.run(numberOf(lastInsertRowid) - QUARANTINE_ROWS);
      },
      write: () => {
        for (const { stream, resourceVersion, epoch, asOf } of moved.values()) {
          savePosition.run(stream, resourceVersion, epoch, asOf);
        }
      },
    };
  };
}

/** Where the stream stands after an event; null where that does not move it. */
export function movedPosition(event: InventoryEvent, before: StreamPosition | null): StreamPosition | null {
  if (!movesPosition(event) || event.resourceVersion === null) return null;
  const { stream, resourceVersion, epoch } = event;
  // Before the first complete list there is no place to resume from.
  if (before === null && event.type !== "synced") return null;
  if (before !== null && epoch < before.epoch) return null;
  const ahead = before !== null && epoch === before.epoch;
  if (ahead && compareVersions(resourceVersion, before.resourceVersion) === -1) return null;
  // An event alone tells nothing of when it happened: a server that is asked again sends first what has waited.
  const asOf = "asOf" in event ? event.asOf : (before?.asOf ?? event.receivedAt);
  return { stream, resourceVersion, epoch, asOf };
}

type Moving = Extract<InventoryEvent, { type: "added" | "modified" | "merged" | "deleted" | "bookmark" | "synced" }>;

/** Watch events and bookmarks move it, and the end of a list; never an item of a list. */
function movesPosition(event: InventoryEvent): event is Moving {
  return ["added", "modified", "merged", "deleted", "bookmark", "synced"].includes(event.type);
}

export function partOf(frame: Readonly<Record<string, unknown>>): number {
  const part = frame["part"];
  const index: unknown = typeof part === "object" && part !== null ? Reflect.get(part, "index") : 0;
  return typeof index === "number" && Number.isSafeInteger(index) ? index : 0;
}
