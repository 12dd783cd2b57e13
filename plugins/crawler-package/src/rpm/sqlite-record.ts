import { Damaged, part, view } from "./bytes.ts";

/** A value of a row; integers beyond 2^53 and reals are null here, as nothing asks for them. */
export type SqliteValue = string | number | Uint8Array | null;

/** At most nine bytes, seven bits each and eight in the last; a value beyond 2^53 is damage wherever we read one. */
export function readVarint(bytes: Uint8Array, start: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let index = 0; index < 9; index++) {
    const byte = bytes[start + index];
    if (byte === undefined) throw new Damaged("a number is cut off");
    if (index === 8) value = value * 256 + byte;
    else value = value * 128 + (byte & 0x7f);
    if (index === 8 || byte < 0x80) return { value, next: start + index + 1 };
  }
  throw new Damaged("a number is cut off");
}

/** Bytes of the serial types 0 to 9 of SQLite's record format; 10 and 11 are not used in files. */
const SIZES: readonly number[] = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

/** A row's values by its record: a header of types, then the values. */
export function readRecord(payload: Uint8Array): readonly SqliteValue[] {
  const header = readVarint(payload, 0);
  if (header.value > payload.length) throw new Damaged("a record's header is longer than the record");
  const values: SqliteValue[] = [];
  let at = header.value;
  for (let next = header.next; next < header.value; ) {
    const type = readVarint(payload, next);
    next = type.next;
    const size = type.value < 12 ? SIZES[type.value] : Math.floor((type.value - 12) / 2);
    if (size === undefined) throw new Damaged("a record holds a value of unknown type");
    values.push(parseValue(type.value, part(payload, at, size)));
    at += size;
  }
  return values;
}

function parseValue(type: number, bytes: Uint8Array): SqliteValue {
  if (type >= 12) return type % 2 === 0 ? bytes : new TextDecoder().decode(bytes);
  if (type === 8 || type === 9) return type - 8;
  if (type === 0 || type === 7) return null;
  if (type === 6) {
    const value = Number(view(bytes).getBigInt64(0));
    return Number.isSafeInteger(value) ? value : null;
  }
  return bytes.reduce((sum, byte, index) => sum * 256 + (index === 0 && byte > 127 ? byte - 256 : byte), 0);
}
