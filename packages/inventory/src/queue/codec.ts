import { pack, unpack } from "../compress.ts";
import type { InventoryEvent } from "../events.ts";

const NONE = new Uint8Array(0);

/** All of an event but its payload, as JSON. */
export function encodeHead(event: InventoryEvent): string {
  if (!("payload" in event)) return JSON.stringify(event);
  const { payload: _, ...head } = event;
  return JSON.stringify(head);
}

/** What is written of the payloads of one commit, which stand one after another; null where there are none. */
export function packPayloads(bytes: Uint8Array, lengths: readonly number[]): Uint8Array | null {
  const size = lengths.reduce((sum, length) => sum + length, 0);
  return size === 0 ? null : pack(bytes.subarray(0, size));
}

/** The events of one commit. */
export function decodeEvents(heads: string, lengths: string, packed: Uint8Array | null): InventoryEvent[] {
  const sizes = lengths.split(",").map(Number);
  const bytes =
    packed === null
      ? NONE
      : unpack(
          packed,
          sizes.reduce((sum, size) => sum + size, 0),
        );
  let at = 0;
  return heads.split("\n").map((head, index) => {
    // We wrote it ourselves: its shape is ours.
    const event: InventoryEvent = JSON.parse(head);
    const end = at + (sizes[index] ?? 0);
    const payload = bytes.subarray(at, end);
    at = end;
    return carriesPayload(event) ? { ...event, payload } : event;
  });
}

const BARE: ReadonlySet<InventoryEvent["type"]> = new Set([
  "absent",
  "merged",
  "bookmark",
  "synced",
  "gap",
  "evidence",
  "searched",
]);

function carriesPayload(event: InventoryEvent): event is Extract<InventoryEvent, { payload: Uint8Array }> {
  return !BARE.has(event.type);
}

/** Bytes that an event takes while it waits. */
export function sizeOf(event: InventoryEvent): number {
  return 256 + ("payload" in event ? event.payload.length : 0);
}
