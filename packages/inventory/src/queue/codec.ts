import { pack, unpack } from "../compress.ts";
import type { InventoryEvent } from "../events.ts";

const NONE = new Uint8Array(0);

/** An event as it crosses to the queue's thread: all but the payload as JSON, the payload as a piece of shared bytes. */
export interface EncodedEvent {
  readonly head: string;
  readonly payload: Uint8Array;
}

export function encodeEvent(event: InventoryEvent): EncodedEvent {
  if (!("payload" in event)) return { head: JSON.stringify(event), payload: NONE };
  const { payload, ...head } = event;
  return { head: JSON.stringify(head), payload };
}

/** What is written of a payload. */
export function storedPayload(payload: Uint8Array): Uint8Array | null {
  return payload.length === 0 ? null : pack(payload);
}

export function decodeEvent(head: string, stored: Uint8Array | null): InventoryEvent {
  // We wrote it ourselves: its shape is ours.
  const event: InventoryEvent = JSON.parse(head);
  if (!carriesPayload(event)) return event;
  return { ...event, payload: stored === null ? NONE : unpack(stored) };
}

function carriesPayload(event: InventoryEvent): event is Extract<InventoryEvent, { payload: Uint8Array }> {
  return !(event.type === "absent" || event.type === "bookmark" || event.type === "synced" || event.type === "gap");
}

/** Bytes that an event takes while it waits. */
export function sizeOf(event: InventoryEvent): number {
  return 256 + ("payload" in event ? event.payload.length : 0);
}
