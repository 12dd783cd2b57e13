import { errorMessage } from "@trawler/plugin-api";

/** What became of the question. `reason` is short and holds no secret. */
export type Reply =
  | { readonly state: "ok"; readonly info: string }
  | { readonly state: FailureState; readonly reason: string };

export type FailureState =
  | "auth_required"
  | "auth_failed"
  | "denied"
  | "loading"
  | "busy"
  | "down"
  | "tls_required"
  | "not_tls"
  | "cert_invalid"
  | "not_redis"
  | "invalid";

const RULES: readonly (readonly [RegExp, FailureState])[] = [
  [/^WRONGPASS\b/, "auth_failed"],
  [/^ERR (invalid password|wrong number of arguments for 'auth')/i, "auth_failed"],
  [/^NOAUTH\b/, "auth_required"],
  [/^ERR operation not permitted/i, "auth_required"],
  [/^LOADING\b/, "loading"],
  [/^(NOPERM|DENIED)\b/, "denied"],
  // INFO renamed away by the operator.
  [/^ERR unknown command/i, "denied"],
  [/^(ERR max number of clients|BUSY\b)/i, "busy"],
  [/^MASTERDOWN\b/, "down"],
];
const MAX_REASON = 200;

/** Names the state that an error reply means. `first` is the first error that the server sent on its own. */
export function replyOfError(error: unknown, first: string): Reply {
  const message = errorMessage(error);
  const text = RULES.some(([pattern]) => pattern.test(message)) ? message : first;
  const state = RULES.find(([pattern]) => pattern.test(text))?.[1] ?? "invalid";
  return { state, reason: text.slice(0, MAX_REASON) };
}
