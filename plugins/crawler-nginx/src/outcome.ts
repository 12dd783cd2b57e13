import type { Answer } from "@trawler/application";
import type { Status } from "./parse.ts";

/** Ascending by how much they tell: a round reports the one that tells most. */
export const FAILURES = ["down", "tls_required", "status_unavailable", "not_stub_status", "unsupported"] as const;

export interface Failure {
  readonly state: (typeof FAILURES)[number];
  /** Short, in our words. */
  readonly reason: string;
  readonly port: number;
}

export interface Found {
  readonly state: "ok";
  readonly status: Status;
  readonly port: number;
  readonly path: string;
  /** `Server` header. */
  readonly server: string | null;
}

/** Null where the answer is a page. */
export function failureOf(answer: Answer, port: number): Failure | null {
  if (answer.status === null) {
    const state = answer.heard ? "not_stub_status" : "down";
    return { state, reason: answer.reason.slice(0, 200), port };
  }
  const { status, body } = answer;
  if (status === 200) return null;
  if (status === 400 && body.includes("plain HTTP request was sent to HTTPS port"))
    return { state: "tls_required", reason: "the port speaks TLS", port };
  return { state: "status_unavailable", reason: MEANINGS.get(status) ?? `answers ${status}`, port };
}

const MEANINGS: ReadonlyMap<number, string> = new Map([
  [301, "answers 301: it redirects elsewhere"],
  [302, "answers 302: it redirects elsewhere"],
  [307, "answers 307: it redirects elsewhere"],
  [308, "answers 308: it redirects elsewhere"],
  [401, "answers 401: it asks for a password"],
  [403, "answers 403: not allowed for our address"],
  [404, "answers 404: no status page there"],
]);
