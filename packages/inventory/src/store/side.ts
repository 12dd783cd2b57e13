import type { DatabaseSync } from "node:sqlite";
import { compareVersions } from "@trawler/kube";
import { pack } from "../compress.ts";
import type { FiguresEvent, GapEvent, InventoryEvent, QueuedEvent, SearchedEvent } from "../events.ts";
import { numberOf, textOf } from "../sqlite.ts";

const QUARANTINE_ROWS = 1000;
const QUARANTINE_BYTES = 64 * 1024;

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

interface Position {
  version: string;
  epoch: number;
  received: number;
}

export function prepareSide(database: DatabaseSync): () => Side {
  const loadPosition = database.prepare("SELECT version, epoch, received FROM positions WHERE stream = ?");
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
    const moved = new Map<string, Position | null>();

    const current = (stream: string): Position | null => {
      const known = moved.get(stream);
      if (known !== undefined) return known;
      const row = loadPosition.get(stream);
      const version = textOf(row?.["version"]);
      if (row === undefined || version === null) return null;
      return { version, epoch: numberOf(row["epoch"]), received: numberOf(row["received"]) };
    };

    return {
      position: (event) => {
        if (!movesPosition(event) || event.resourceVersion === null) return;
        const before = current(event.stream);
        // Before the first complete list there is no place to resume from.
        if (before === null && event.type !== "synced") return;
        if (before !== null && event.epoch < before.epoch) return;
        const ahead = before !== null && event.epoch === before.epoch;
        if (ahead && compareVersions(event.resourceVersion, before.version) === -1) return;
        moved.set(event.stream, {
          version: event.resourceVersion,
          epoch: event.epoch,
          received: event.receivedAt,
        });
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
        for (const [stream, position] of moved) {
          if (position !== null) savePosition.run(stream, position.version, position.epoch, position.received);
        }
      },
    };
  };
}

type Moving = Extract<InventoryEvent, { type: "added" | "modified" | "deleted" | "bookmark" | "synced" }>;

/** Watch events and bookmarks move it, and the end of a list; never an item of a list. */
function movesPosition(event: InventoryEvent): event is Moving {
  return ["added", "modified", "deleted", "bookmark", "synced"].includes(event.type);
}

function partOf(frame: Readonly<Record<string, unknown>>): number {
  const part = frame["part"];
  const index: unknown = typeof part === "object" && part !== null ? Reflect.get(part, "index") : 0;
  return typeof index === "number" && Number.isSafeInteger(index) ? index : 0;
}
