/** A UUID of version 7 (RFC 9562): 48 bits of milliseconds, the rest random. */
export function uuid7(milliseconds: number): string {
  // Node keeps a pool of random bytes for this one function: it is far cheaper than asking for sixteen.
  const random = crypto.randomUUID();
  const time = Math.floor(milliseconds).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${random.slice(15)}`;
}
