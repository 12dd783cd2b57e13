import { type ErrorCode, TrawlerError } from "@trawler/plugin-api";

/** The most of a server's message that goes into ours. */
const MESSAGE_CAP = 300;

/** An answer of the API server that is no success. */
export class ApiError extends TrawlerError {
  /** HTTP status, or the `code` of a Status object inside a watch. */
  readonly status: number;
  /** The Status object's `reason`, such as `Expired` or `Forbidden`. */
  readonly reason: string | null;
  /** Seconds that the server asks to wait. */
  readonly retryAfter: number | null;

  constructor(status: number, reason: string | null, message: string, retryAfter: number | null) {
    super(codeOf(status), message);
    this.status = status;
    this.reason = reason;
    this.retryAfter = retryAfter;
  }
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return "TRAWLER_DENIED";
  if (status === 404) return "TRAWLER_UNSUPPORTED";
  if (status === 410) return "TRAWLER_GONE";
  return status === 429 ? "TRAWLER_RETRY" : "TRAWLER_UNAVAILABLE";
}

/** The HTTP status behind an error of this client, or null where there was no answer. */
export function apiStatus(error: unknown): number | null {
  return isRecord(error) && typeof error["status"] === "number" ? error["status"] : null;
}

/** Whether the asked resource version, or the continue token, is older than what the server remembers. */
export function isExpired(error: unknown): boolean {
  return isRecord(error) && (error["status"] === 410 || error["reason"] === "Expired" || error["reason"] === "Gone");
}

/** Whether the server is younger than the version that we asked for. */
export function isAhead(error: unknown): boolean {
  return isRecord(error) && error["reason"] === "ResourceVersionTooLarge";
}

/** Seconds that the server asked to wait; null where it did not. */
export function retryAfter(error: unknown): number | null {
  return isRecord(error) && typeof error["retryAfter"] === "number" ? error["retryAfter"] : null;
}

/** Makes an error of a Status object (`body` parsed, anything at all) or of a bare status line. */
export function statusError(what: string, status: number, body: unknown, header: string | undefined): ApiError {
  const object = isRecord(body) ? body : {};
  const code = typeof object["code"] === "number" && object["code"] > 0 ? object["code"] : status;
  const details = isRecord(object["details"]) ? object["details"] : {};
  const causes = Array.isArray(details["causes"]) ? details["causes"] : [];
  const ahead = causes.some((cause) => isRecord(cause) && cause["reason"] === "ResourceVersionTooLarge");
  const reason = ahead ? "ResourceVersionTooLarge" : typeof object["reason"] === "string" ? object["reason"] : null;
  const said = typeof object["message"] === "string" ? `: ${clean(object["message"])}` : "";
  const seconds = header === undefined ? details["retryAfterSeconds"] : Number(header);
  const wait = typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 300) : null;
  return new ApiError(code, reason, `${what}: ${explain(code)}${said}`, wait);
}

function explain(status: number): string {
  if (status === 401) return "401, the API server does not accept our credentials";
  if (status === 403) return "403, our role does not allow it";
  return `${status} from the API server`;
}

function clean(message: string): string {
  const line = message.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").replaceAll(/Bearer\s+\S+/gi, "Bearer [redacted]");
  return line.length > MESSAGE_CAP ? `${line.slice(0, MESSAGE_CAP)}…` : line;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
