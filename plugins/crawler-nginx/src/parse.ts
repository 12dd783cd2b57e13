/** Counters since the start, and connections now, exact at any size. Null = the page does not say. */
export interface Status {
  readonly active: number | bigint;
  readonly accepted: number | bigint;
  readonly handled: number | bigint;
  /** Accepted but not handled, at a limit. */
  readonly dropped: number | bigint;
  readonly requests: number | bigint;
  readonly reading: number | bigint | null;
  readonly writing: number | bigint | null;
  readonly waiting: number | bigint | null;
}

// The module prints four lines; some builds add a request time as a fourth counter.
const PAGE =
  /^\s*Active connections:\s*(\d{1,20})\s+server accepts handled requests(?: request_time)?\s+(\d{1,20})\s+(\d{1,20})\s+(\d{1,20})(?:\s+\d{1,20})?\s+Reading:\s*(\d{1,20})\s+Writing:\s*(\d{1,20})\s+Waiting:\s*(\d{1,20})\s*$/;

/** Parses the page of ngx_http_stub_status_module; null where the text is another page. */
export function parseStubStatus(text: string): Status | null {
  const match = PAGE.exec(text);
  if (match === null) return null;
  const [active, accepted, handled, requests, reading, writing, waiting] = match.slice(1).map(exact);
  if (active === undefined || accepted === undefined || handled === undefined || requests === undefined) return null;
  if (reading === undefined || writing === undefined || waiting === undefined) return null;
  const difference = BigInt(accepted) - BigInt(handled);
  const dropped = difference > 0n ? exact(String(difference)) : 0;
  return { active, accepted, handled, dropped, requests, reading, writing, waiting };
}

/** A number where it is exact, else a bigint. */
export function exact(digits: string): number | bigint {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : BigInt(digits);
}

/** What a page that is no stub_status is, where it can be told. */
export function kindOfPage(text: string): string {
  const start = text.trimStart();
  if (start === "") return "an empty page";
  if (/^pool:\s/.test(start)) return "a php-fpm status page";
  if (/^[{[]/.test(start))
    return /"(server|upstream|cache)Zones"/.test(start) ? "a VTS status page" : "a JSON document";
  if (/^<(!doctype|html)/i.test(start)) return "an HTML page";
  return "another page";
}
