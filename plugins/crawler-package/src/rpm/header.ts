import { Damaged, part, view } from "./bytes.ts";

/** What is taken of one header; the tags are those of rpm's `rpmtag.h`. */
export interface Header {
  readonly name: string | null;
  readonly version: string | null;
  readonly release: string | null;
  readonly epoch: number | null;
  readonly architecture: string | null;
  readonly size: number | null;
  /** Seconds since 1970. */
  readonly installed: number | null;
  readonly source: string | null;
}

const TAG = {
  name: 1000,
  version: 1001,
  release: 1002,
  epoch: 1003,
  installTime: 1008,
  size: 1009,
  architecture: 1022,
  sourceRpm: 1044,
  longSize: 5009,
} as const;
const INT32 = 4;
const INT64 = 5;
const STRING = 6;
const I18N_STRING = 9;
const PREAMBLE = 8;
const ENTRY = 16;
const MAX_TEXT = 256;

/**
 * Parses a header as rpm's databases hold it: the number of index entries and of data bytes, the entries (tag, type,
 * offset, count), the data; all big-endian.
 */
export function parseHeader(blob: Uint8Array): Header {
  const data = view(blob);
  if (blob.length < PREAMBLE) throw new Damaged("a header is too short");
  const entries = data.getUint32(0);
  const start = PREAMBLE + entries * ENTRY;
  const store = part(blob, start, data.getUint32(4));
  const found = new Map<number, { readonly type: number; readonly offset: number }>();
  for (let index = 0; index < entries; index++) {
    const at = PREAMBLE + index * ENTRY;
    const tag = data.getUint32(at);
    if (!found.has(tag) && WANTED.has(tag)) {
      found.set(tag, { type: data.getUint32(at + 4), offset: data.getUint32(at + 8) });
    }
  }
  const text = (tag: number): string | null => {
    const entry = found.get(tag);
    if (!entry || (entry.type !== STRING && entry.type !== I18N_STRING)) return null;
    const bytes = store.subarray(entry.offset, entry.offset + MAX_TEXT);
    const end = bytes.indexOf(0);
    return new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end)) || null;
  };
  const integer = (tag: number): number | null => {
    const entry = found.get(tag);
    const length = entry?.type === INT32 ? 4 : entry?.type === INT64 ? 8 : 0;
    if (!entry || length === 0 || entry.offset + length > store.length) return null;
    const value = length === 4 ? view(store).getUint32(entry.offset) : Number(view(store).getBigUint64(entry.offset));
    return Number.isSafeInteger(value) ? value : null;
  };
  return {
    name: text(TAG.name),
    version: text(TAG.version),
    release: text(TAG.release),
    epoch: integer(TAG.epoch),
    architecture: text(TAG.architecture),
    // Packages of 4 GiB and more have the long one alone.
    size: integer(TAG.size) ?? integer(TAG.longSize),
    installed: integer(TAG.installTime),
    source: text(TAG.sourceRpm),
  };
}

const WANTED: ReadonlySet<number> = new Set(Object.values(TAG));
