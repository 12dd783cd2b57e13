import type { InventoryQuery, StoreReader } from "@trawler/inventory";
import { isRecord } from "@trawler/kube";
import type { InventorySettings } from "./settings.ts";
import { askCollector } from "./socket.ts";

/** A time, up to now, of which nothing is known yet: it becomes a gap, or not, once the stream is in step again. */
export interface Unknown {
  /** Such as `Pod`. */
  readonly kind: string;
  /** Our wall clock, milliseconds: nothing before was missed. Null = nothing was ever known. */
  readonly from: number | null;
  readonly reason: string;
}

/** A server's bookmarks come once a minute; a store that has seen none for three has nobody who follows. Milliseconds. */
const STALE = 180_000;

/**
 * Which of the kinds are not known up to the present. The collector that runs beside the store says so at once; for a
 * store that others write (PostgreSQL) the age of its positions has to do.
 */
export async function unknownNow(
  store: StoreReader,
  { folder, kinds, postgresql }: InventorySettings,
  now: number,
): Promise<readonly Unknown[]> {
  const states = await statesOf(folder);
  const found = await Promise.all(
    kinds.map(async ({ stream, kind, required }): Promise<Unknown | null> => {
      const position = await store.position(stream);
      if (position === null && !required) return null;
      const from = position?.asOf ?? null;
      const state = states?.get(stream);
      if (state === "synced") return null;
      if (state !== undefined) return { kind, from, reason: state };
      if (postgresql === null) return { kind, from, reason: "no collector runs here" };
      const fresh = from !== null && now - from <= STALE;
      return fresh ? null : { kind, from, reason: "no collector has written for minutes" };
    }),
  );
  return found.filter((one) => one !== null);
}

/** What of the asked time is not known; null where it ends before. */
export function unknownOf(query: InventoryQuery, unknown: readonly Unknown[], now: number): Unknown | null {
  const end = query.between?.[1] ?? now;
  const met = unknown.filter(({ kind, from }) => kind === (query.kind ?? kind) && (from === null || end > from));
  return met[0] ?? null;
}

/** By stream: `synced`, or why it is not; null where no collector answers, or it is a standby. */
async function statesOf(folder: string): Promise<ReadonlyMap<string, string> | null> {
  const answer = await askCollector(folder, "GET", "/v1/status").catch(() => null);
  const body = answer === null ? null : answer.body;
  if (!isRecord(body) || body["leader"] !== true || !Array.isArray(body["kinds"])) return null;
  return new Map(
    body["kinds"].filter(isRecord).map(({ stream, state, reason }) => [String(stream), String(reason ?? state)]),
  );
}
