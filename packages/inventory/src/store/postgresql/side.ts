import { pack } from "../../compress.ts";
import type { QueuedEvent } from "../../events.ts";
import { textOf } from "../../sqlite.ts";
import { asPosition } from "../answers.ts";
import { movedPosition, partOf, QUARANTINE_BYTES, QUARANTINE_ROWS, type Side } from "../side.ts";
import type { StreamPosition } from "../store.ts";
import type { Sql, Value } from "./session.ts";
import { decodeText, encodeNullable, encodeText } from "./text.ts";
import { placeholders } from "./working.ts";

/** What a part writes beside the records, in memory until it is written. */
export interface MemorySide extends Omit<Side, "write"> {
  write(sql: Sql): Promise<void>;
}

export interface LoadedSide {
  readonly positions: ReadonlyMap<string, StreamPosition>;
  /** Time of the figures that are kept, by UID. */
  readonly figures: ReadonlyMap<string, string>;
}

export async function loadSide(sql: Sql, events: readonly QueuedEvent[]): Promise<LoadedSide> {
  const positions = (await sql("SELECT * FROM positions")).map(asPosition);
  const uids = events.flatMap(({ event }) => (event.type === "figures" ? [encodeText(event.uid)] : []));
  const rows =
    uids.length === 0
      ? []
      : await sql("SELECT uid, max(time) AS time FROM figures WHERE uid = ANY($1::text[]) GROUP BY uid", [uids]);
  const times = rows.map((row): [string, string] => [
    decodeText(textOf(row["uid"]) ?? ""),
    decodeText(textOf(row["time"]) ?? ""),
  ]);
  return { positions: new Map(positions.map((one) => [one.stream, one])), figures: new Map(times) };
}

interface Figures {
  readonly time: string;
  readonly parts: Map<number, Uint8Array>;
}

export function createSide(loaded: LoadedSide): MemorySide {
  const moved = new Map<string, StreamPosition>();
  const figures = new Map<string, Figures>();
  const quarantined: (readonly Value[])[] = [];
  /** Gaps and their notes, in their order. */
  const gaps: ((sql: Sql) => Promise<unknown>)[] = [];
  return {
    position: (event) => {
      const before = moved.get(event.stream) ?? loaded.positions.get(event.stream) ?? null;
      const after = movedPosition(event, before);
      if (after !== null) moved.set(event.stream, after);
    },
    gap: ({ stream, kind, reason, from, to, fromVersion, toVersion, note }) => {
      const values = [
        encodeText(stream),
        encodeText(kind),
        reason,
        Math.trunc(from),
        Math.trunc(to),
        encodeNullable(fromVersion),
        encodeNullable(toVersion),
        plain(note),
      ];
      gaps.push((sql) =>
        sql(
          `INSERT INTO gaps (stream, kind, reason, began, ended, from_version, to_version, note) VALUES ${placeholders([values])}`,
          values,
        ),
      );
    },
    searched: ({ note, stream }) => {
      gaps.push((sql) =>
        sql("UPDATE gaps SET note = note || '; ' || $1::text WHERE id = (SELECT max(id) FROM gaps WHERE stream = $2)", [
          plain(note),
          encodeText(stream),
        ]),
      );
    },
    figures: ({ uid, payload }, frame) => {
      const time = String(frame["time"]);
      const known = figures.get(uid);
      if ((known?.time ?? loaded.figures.get(uid) ?? "") > time) return;
      const parts = known?.time === time ? known.parts : new Map<number, Uint8Array>();
      figures.set(uid, { time, parts: parts.set(partOf(frame), pack(payload)) });
    },
    quarantine: ({ sequence, event }, reason) => {
      const payload = "payload" in event ? pack(event.payload.slice(0, QUARANTINE_BYTES)) : null;
      const uid = "uid" in event ? encodeText(event.uid) : null;
      quarantined.push([sequence, encodeText(event.stream), uid, plain(reason.slice(0, 500)), payload]);
    },
    write: async (sql) => {
      for (const gap of gaps) await gap(sql);
      const positions = [...moved.values()].map((one) => [
        encodeText(one.stream),
        one.resourceVersion,
        one.epoch,
        Math.trunc(one.asOf),
      ]);
      if (positions.length > 0) {
        await sql(
          `INSERT INTO positions VALUES ${placeholders(positions)} ON CONFLICT (stream)
           DO UPDATE SET version = excluded.version, epoch = excluded.epoch, received = excluded.received`,
          positions.flat(),
        );
      }
      await writeFigures(sql, figures);
      for (const row of quarantined.slice(-QUARANTINE_ROWS)) {
        await sql(`INSERT INTO quarantine (sequence, stream, uid, reason, payload) VALUES ${placeholders([row])}`, row);
      }
      if (quarantined.length > 0) {
        await sql("DELETE FROM quarantine WHERE id <= (SELECT max(id) FROM quarantine) - $1", [QUARANTINE_ROWS]);
      }
    },
  };
}

async function writeFigures(sql: Sql, figures: ReadonlyMap<string, Figures>): Promise<void> {
  if (figures.size === 0) return;
  const all = [...figures].map(([uid, one]) => ({
    uid: encodeText(uid),
    time: encodeText(one.time),
    parts: one.parts,
  }));
  await sql(
    `DELETE FROM figures USING unnest($1::text[], $2::text[]) AS newer (u, t)
     WHERE figures.uid = newer.u AND figures.time <> newer.t`,
    [all.map(({ uid }) => uid), all.map(({ time }) => time)],
  );
  const rows = all.flatMap(({ uid, time, parts }) => [...parts].map(([part, frame]) => [uid, part, time, frame]));
  await sql(
    `INSERT INTO figures (uid, part, time, frame) VALUES ${placeholders(rows)}
     ON CONFLICT (uid, part) DO UPDATE SET time = excluded.time, frame = excluded.frame`,
    rows.flat(),
  );
}

/** Text of ours for people, which may quote foreign text. */
function plain(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
