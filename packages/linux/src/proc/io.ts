import { parseCounts } from "./key-value.ts";

/** Bytes that really went from and to storage, of `/proc/PID/io`. */
export function parseProcessIo(text: string): { readonly read: number | null; readonly written: number | null } {
  const counts = parseCounts(text);
  return { read: counts.get("read_bytes") ?? null, written: counts.get("write_bytes") ?? null };
}
