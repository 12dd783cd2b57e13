/** At most `max` bytes of UTF-8, cut between characters, with a mark where something is missing. */
export function clip(text: string, max: number): string {
  // A string of at most max/3 UTF-16 units cannot be longer than max bytes.
  if (text.length * 3 <= max) return wellFormed(text);
  const bytes = encoder.encode(text.length > max ? text.slice(0, max) : text);
  if (bytes.length <= max && text.length <= max) return wellFormed(text);
  let end = Math.min(bytes.length, max - MARK_BYTES);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${decoder.decode(bytes.subarray(0, end))}${MARK}`;
}

const MARK = "…";
const MARK_BYTES = 3;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A lone surrogate is no Unicode: readers of JSON refuse or change it. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}
