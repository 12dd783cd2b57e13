import { isRecord } from "@trawler/kube";
import { unpack } from "../compress.ts";
import type { GapReason } from "../events.ts";
import type { InventoryRecord, RecordOwner } from "../record.ts";
import { bytesOf, numberOf, textOf } from "../sqlite.ts";
import type { Row } from "./query.ts";
import { asRecord, parseBody } from "./rows.ts";
import type { Gap, InventoryQuery, StreamPosition } from "./store.ts";

type Columns = Readonly<Record<string, unknown>>;

/** Owners above the direct one that an answer names. */
export const CHAIN = 4;

/** Rows as records; `chain` completes the owners above the direct one. */
export function presentRows(
  rows: readonly Row[],
  cluster: string,
  gaps: readonly Gap[],
  chain: (owners: readonly RecordOwner[]) => readonly RecordOwner[],
): readonly InventoryRecord[] {
  return rows.map((row) => {
    const body = parseBody(row.body);
    const met = gaps.filter((gap) => gap.kind === body.kind && gap.to >= row.started && gap.from <= row.ended);
    const ids = met.map(({ id }) => id);
    const record = asRecord(body, cluster, ids, row.digest);
    return { ...record, owners: chain(record.owners) };
  });
}

/** The parts of a frame that was split, as one. */
export function joinFigures(rows: readonly Columns[]): Columns | null {
  const parts = rows.map((row) => parseFrame(bytesOf(row["frame"])));
  const [first, ...rest] = parts.filter((part) => part !== null);
  if (first === undefined || rest.length === 0) return first ?? null;
  const containers = [first, ...rest].flatMap((part) => (Array.isArray(part["containers"]) ? part["containers"] : []));
  return { ...first, containers };
}

export function asPosition(row: Columns): StreamPosition {
  return {
    stream: textOf(row["stream"]) ?? "",
    resourceVersion: textOf(row["version"]) ?? "",
    epoch: numberOf(row["epoch"]),
    asOf: numberOf(row["received"]),
  };
}

/** What exists now is known however many gaps there were; the past is not. */
export function isComplete(query: InventoryQuery, gaps: readonly Gap[]): boolean {
  return gaps.length === 0 || (query.between === undefined && query.deleted !== true);
}

export function asGap(row: Columns): Gap {
  return {
    id: numberOf(row["id"]),
    stream: textOf(row["stream"]) ?? "",
    kind: textOf(row["kind"]) ?? "",
    reason: gapReason(row["reason"]),
    from: numberOf(row["began"]),
    to: numberOf(row["ended"]),
    fromVersion: textOf(row["from_version"]),
    toVersion: textOf(row["to_version"]),
    note: textOf(row["note"]) ?? "",
  };
}

const REASONS: readonly GapReason[] = ["expired", "idle", "restart", "restore", "overflow"];

function gapReason(value: unknown): GapReason {
  return REASONS.find((reason) => reason === value) ?? "restart";
}

function parseFrame(packed: Uint8Array | null): Columns | null {
  if (packed === null) return null;
  const value: unknown = JSON.parse(new TextDecoder().decode(unpack(packed)));
  return isRecord(value) ? value : null;
}
