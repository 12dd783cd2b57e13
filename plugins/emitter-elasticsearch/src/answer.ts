import type { Answer } from "@trawler/http-client";
import { type Envelope, TrawlerError, type WriteResult } from "@trawler/plugin-api";

interface Item {
  readonly status: number;
  /** Type and reason of a failure; empty for none. */
  readonly reason: string;
}

/** What is asked of an answer (the API's `filter_path`), which keeps a good one to some 30 bytes a document. */
export const FILTER = "errors,error,items.*.status,items.*.error.type,items.*.error.reason";

/**
 * What a bulk answer says of each envelope, which has `counts[n]` documents. 429 and 503 may pass; 409 says that an
 * earlier try arrived. Null where the answer is too long to be read. Throws TRAWLER_RETRY where nothing was taken that
 * may be taken later, and where it is no bulk answer.
 */
export function readAnswer(
  { text, complete }: Answer,
  envelopes: readonly Envelope[],
  counts: readonly number[],
): Required<WriteResult> | null {
  if (!complete) return null;
  const items = parseItems(text);
  const expected = counts.reduce((sum, count) => sum + count, 0);
  if (items?.length !== expected) {
    throw new TrawlerError("TRAWLER_RETRY", `what answers is no bulk API: ${text.slice(0, 200)}`);
  }
  const rejected: NonNullable<WriteResult["rejected"]>[number][] = [];
  const retry: string[] = [];
  let place = 0;
  let busy = "";
  for (const [index, { id }] of envelopes.entries()) {
    const own = items.slice(place, place + (counts[index] ?? 0));
    place += own.length;
    const later = own.find(({ status }) => status === 429 || status === 503);
    const refused = own.find(({ status }) => status >= 300 && status !== 409);
    if (later !== undefined) {
      retry.push(id);
      busy = explain(later);
    } else if (refused !== undefined) rejected.push({ id, code: "TRAWLER_REFUSED", message: explain(refused) });
  }
  // The host tells the reason of a whole batch that waits.
  if (retry.length === envelopes.length) throw new TrawlerError("TRAWLER_RETRY", busy);
  return { rejected, retry };
}

const explain = ({ status, reason }: Item): string => `${status}${reason === "" ? "" : `: ${reason.slice(0, 500)}`}`;

/** Null where it is none. */
export function parseItems(text: string): readonly Item[] | null {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return null;
  }
  const items = field(answer, "items");
  if (!Array.isArray(items)) return null;
  const parsed = items.map((item: unknown): Item | null => {
    const create = field(item, "create");
    const status = field(create, "status");
    const error = field(create, "error");
    const parts = [field(error, "type"), field(error, "reason")].filter((part) => typeof part === "string");
    return typeof status === "number" ? { status, reason: parts.join(": ") } : null;
  });
  return parsed.includes(null) ? null : parsed.filter((item) => item !== null);
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
