/** Marks a text that PostgreSQL could not hold as it is. */
const MARK = "\u001a";

/** PostgreSQL's text holds neither NUL nor half of a surrogate pair: such a text stands there as marked JSON. */
export function encodeText(text: string): string {
  const plain = text.isWellFormed() && !text.includes("\0") && !text.startsWith(MARK);
  return plain ? text : MARK + JSON.stringify(text);
}

export function encodeNullable(text: string | null): string | null {
  return text === null ? null : encodeText(text);
}

export function decodeText(text: string): string {
  if (!text.startsWith(MARK)) return text;
  const value: unknown = JSON.parse(text.slice(MARK.length));
  return typeof value === "string" ? value : text;
}
