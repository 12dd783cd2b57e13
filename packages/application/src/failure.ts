import type { CrawlContext } from "@trawler/plugin-api";
import type { Answer } from "./http.ts";

/** How asking a server ended, in words that all application crawlers share. */
export const STATES = ["ok", "down", "denied", "unavailable", "unexpected", "tls_required"] as const;
export type State = (typeof STATES)[number];

export interface Failure {
  readonly state: Exclude<State, "ok">;
  /** Short, in our words. */
  readonly reason: string;
}

/** Null where the answer is a 200; what it holds is another matter. A redirect is not followed. */
export function failureOf(answer: Answer): Failure | null {
  if (answer.status === null) {
    return { state: answer.heard ? "unexpected" : "down", reason: answer.reason.slice(0, 200) };
  }
  const { status, body } = answer;
  if (status === 200) return null;
  if (status === 400 && /HTTPS port|SSL-enabled server port|requires TLS/i.test(body)) {
    return { state: "tls_required", reason: "the port speaks TLS" };
  }
  if (status === 401 || status === 407) return { state: "denied", reason: `answers ${status}: it asks for a password` };
  if (status === 403) return { state: "denied", reason: "answers 403: not allowed for our address or user" };
  if (status === 404) return { state: "unavailable", reason: "answers 404: there is no such page" };
  if (status >= 300 && status < 400)
    return { state: "unavailable", reason: `answers ${status}: it redirects elsewhere` };
  return { state: "unavailable", reason: `answers ${status}` };
}

/** Makes a failure a problem of the crawl too, where it is about rights or a server that does not answer. */
export function tell({ state, reason }: Failure, key: string, { problem }: Pick<CrawlContext, "problem">): void {
  if (state === "denied") problem("denied", `${key}: ${reason}`);
  else if (state === "down") problem("unavailable", `${key}: ${reason}`);
}
