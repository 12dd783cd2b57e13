const NANOS_PER_MILLI = 1_000_000n;
/** The last time that RFC 3339 can write with four digits of the year. */
const MAX_MILLIS = 253_402_300_799_999n;

/** RFC 3339 of nanoseconds since the epoch in decimal; null for 0, negative or unreadable ones. */
export function timeOfNanos(nanos: string): string | null {
  if (!/^\d{1,20}$/.test(nanos)) return null;
  const millis = BigInt(nanos) / NANOS_PER_MILLI;
  if (millis <= 0n || millis > MAX_MILLIS) return null;
  return new Date(Number(millis)).toISOString();
}
