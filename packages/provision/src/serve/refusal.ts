import type { AnswerFault } from "../dialog/types.ts";
import type { Finding } from "../preflight/types.ts";
import type { TemplateFault } from "../template/types.ts";

/** Why a request came to nothing. `code` is for programs, `message` one line for people. */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  /** Of the template and its values. */
  readonly faults?: readonly TemplateFault[];
  /** Of the answers of a form, or of the request itself. */
  readonly answers?: readonly AnswerFault[];
  /** Of the cluster. */
  readonly findings?: readonly Finding[];
}

/** An answer that is no success, thrown by whoever finds out. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: ErrorBody;
  /** Seconds. */
  readonly retryAfter: number | null;

  constructor(status: number, body: ErrorBody, retryAfter: number | null = null) {
    super(body.message);
    this.name = "Refusal";
    this.status = status;
    this.body = body;
    this.retryAfter = retryAfter;
  }
}

export function notFound(message: string): Refusal {
  return new Refusal(404, { code: "TRAWLER_GONE", message });
}

export function isRefusal(error: Error): error is Refusal {
  return error.name === "Refusal" && "status" in error && "body" in error;
}
