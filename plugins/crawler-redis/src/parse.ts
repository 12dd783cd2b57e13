/** `INFO` as it was sent: keys and values are texts, in the server's order. A repeated key keeps its first value. */
export type Info = ReadonlyMap<string, string>;

const MAX_FIELDS = 10_000;

/**
 * Splits the reply of INFO into fields. Sections differ by product and version, so they are not looked at. A key may
 * hold colons itself (`cmdstat_host::calls=1`): where the value is a list of `k=v`, the key ends at the last colon
 * before the first of them.
 */
export function parseInfo(text: string): Info {
  const fields = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    if (line === "" || line.startsWith("#")) continue;
    const equals = line.indexOf("=");
    const list = /:[A-Za-z][\w.-]*=/.test(line);
    const colon = list ? line.lastIndexOf(":", equals) : line.indexOf(":");
    if (colon <= 0) continue;
    const key = line.slice(0, colon);
    if (!fields.has(key)) fields.set(key, line.slice(colon + 1));
    if (fields.size >= MAX_FIELDS) break;
  }
  return fields;
}

/** Parses `keys=1,expires=0,avg_ttl=0`; what is no `k=v` is skipped. */
export function parseList(value: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const part of value.split(",")) {
    const equals = part.indexOf("=");
    if (equals > 0) fields.set(part.slice(0, equals), part.slice(equals + 1));
  }
  return fields;
}

/**
 * Reads typed numbers out of fields and counts those that are none (`inf`, `-nan`, text): such a field is null and
 * never drops the rest. Absent fields are null and not counted.
 */
export class FieldReader {
  readonly #fields: ReadonlyMap<string, string>;
  #invalid = 0;

  constructor(fields: ReadonlyMap<string, string>) {
    this.#fields = fields;
  }

  get invalid(): number {
    return this.#invalid;
  }

  /** An empty value counts as absent. */
  text(name: string): string | null {
    return this.#fields.get(name)?.slice(0, 512) || null;
  }

  /** Exact at any size: beyond 2^53−1 a bigint. `unknown` is the text by which the server says that it has none. */
  integer(name: string, unknown?: string): number | bigint | null {
    const text = this.text(name);
    if (text === null || text === unknown) return null;
    if (!/^\d{1,20}$/.test(text)) return this.#reject();
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  }

  /** A finite number that is not negative; `scale` turns the server's unit into the base unit. A `%` is dropped. */
  float(name: string, scale = 1): number | null {
    const text = this.text(name);
    if (text === null) return null;
    if (!/^\d+(\.\d+)?(e[+-]?\d+)?%?$/i.test(text)) return this.#reject();
    const value = Number.parseFloat(text) * scale;
    return Number.isFinite(value) ? value : this.#reject();
  }

  #reject(): null {
    this.#invalid += 1;
    return null;
  }
}
