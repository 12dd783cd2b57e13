/**
 * The answer to `stats` of memcached's text protocol (doc/protocol.txt): lines `STAT name value`, then `END`. Null where
 * it is none, or not whole.
 */
export function parseStats(text: string): ReadonlyMap<string, string> | null {
  const lines = text.split("\r\n");
  if (lines.at(-1) !== "" || lines.at(-2) !== "END") return null;
  const stats = new Map<string, string>();
  for (const line of lines.slice(0, -2)) {
    const [, name, value] = /^STAT ([^ ]{1,64}) (.{0,256})$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return null;
    stats.set(name, value);
  }
  return stats.size === 0 ? null : stats;
}

/** An error that the server says instead: `ERROR`, `CLIENT_ERROR why`, `SERVER_ERROR why`. */
export function parseError(text: string): string | null {
  const [, word, why] = /^(ERROR|CLIENT_ERROR|SERVER_ERROR)(?: (.{0,200}))?\r\n/.exec(text) ?? [];
  return word === undefined ? null : (why ?? word);
}

/** A figure of it; null where the server does not have it, or says no number. */
export function figure(stats: ReadonlyMap<string, string>, name: string): number | null {
  const text = stats.get(name);
  return text !== undefined && /^\d{1,20}(\.\d{1,9})?$/.test(text) ? Number(text) : null;
}
