import { isUtf8 } from "node:buffer";

const BACKSLASH = 0x5c;

/**
 * Bytes of a file name as a string: what is UTF-8 stands as it is, each other byte as `\xNN`, a backslash as `\x5C`.
 * Lossless: two names never become one, and {@link decodePath} gives the bytes back.
 */
export function encodePath(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.includes(BACKSLASH) && isUtf8(buffer)) return buffer.toString("utf8");
  let text = "";
  for (let at = 0; at < buffer.length; ) {
    const length = sequenceLength(buffer, at);
    text += length === 0 ? escapeByte(buffer[at] ?? 0) : buffer.toString("utf8", at, at + length);
    at += length || 1;
  }
  return text;
}

/** The bytes that a path string means. A backslash that begins no `\xNN` stands for itself. */
export function decodePath(text: string): Buffer {
  if (!text.includes("\\")) return Buffer.from(text, "utf8");
  const parts = text.split(/\\x([0-9A-Fa-f]{2})/);
  return Buffer.concat(
    parts.map((part, index) => (index % 2 === 1 ? Buffer.from(part, "hex") : Buffer.from(part, "utf8"))),
  );
}

/** A member's path with one more name, both encoded. */
export function joinPath(folder: string, name: string): string {
  return folder.endsWith("/") ? `${folder}${name}` : `${folder}/${name}`;
}

/** The components of a path, without empty ones and `.`; `..` is kept, as links decide what it means. */
export function splitPath(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const slash = bytes.indexOf(0x2f, from);
    const to = slash === -1 ? bytes.length : slash;
    const part = bytes.subarray(from, to);
    if (part.length > 0 && !(part.length === 1 && part[0] === 0x2e)) parts.push(part);
    from = to + 1;
  }
  return parts;
}

function escapeByte(byte: number): string {
  return `\\x${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** Bytes of the well-formed UTF-8 sequence at `at`, or 0 where there is none (or a backslash stands there). */
function sequenceLength(buffer: Buffer, at: number): number {
  const lead = buffer[at] ?? 0;
  if (lead === BACKSLASH) return 0;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  const sequence = buffer.subarray(at, at + length);
  return sequence.length === length && isUtf8(sequence) ? length : 0;
}
