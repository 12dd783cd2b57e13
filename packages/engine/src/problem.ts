import { type ErrorCode, errorCode, errorMessage, type Problem, type ProblemCode } from "@trawler/plugin-api";
import { redactText } from "./redact.ts";
import { clip } from "./text.ts";

/** The one table from thrown codes to what a frame says. */
const CODES: Readonly<Record<ErrorCode, ProblemCode>> = {
  TRAWLER_CONFIG_INVALID: "failed",
  TRAWLER_PLUGIN_INVALID: "failed",
  TRAWLER_PLUGIN_TIMEOUT: "timeout",
  TRAWLER_PLUGIN_STUCK: "busy",
  TRAWLER_PLUGIN_FAILED: "failed",
  TRAWLER_RETRY: "unavailable",
  TRAWLER_UNSUPPORTED: "unsupported",
  TRAWLER_LIMIT: "truncated",
  TRAWLER_DENIED: "denied",
  TRAWLER_GONE: "gone",
  TRAWLER_REFUSED: "denied",
  TRAWLER_UNAVAILABLE: "unavailable",
  TRAWLER_BUSY: "busy",
  TRAWLER_PLATFORM: "unsupported",
};

const MAX_MESSAGE = 1024;
const MAX_PROBLEMS = 50;

/** What a frame says about a thrown error. */
export function problemOf(crawler: string | null, error: unknown): Problem {
  return makeProblem(crawler, problemCode(error), errorMessage(error));
}

export function problemCode(error: unknown): ProblemCode {
  const code = errorCode(error);
  return code !== undefined && Object.hasOwn(CODES, code) ? CODES[code as ErrorCode] : "failed";
}

export function makeProblem(crawler: string | null, code: ProblemCode, message: string): Problem {
  return { crawler, code, message: redactText(clip(message, MAX_MESSAGE)) };
}

const NONE: readonly Problem[] = [];

/** Problems of one place in a frame: equal ones are counted, and beyond 50 different ones only counted together. */
export class ProblemList {
  // Made when first needed: one list is made for each call of a crawler, and most stay empty.
  #counts: Map<string, { readonly problem: Problem; count: number }> | undefined;
  #others = 0;

  add(problem: Problem): void {
    const key = `${problem.crawler}\n${problem.code}\n${problem.message}`;
    this.#counts ??= new Map();
    const known = this.#counts.get(key);
    const count = problem.count ?? 1;
    if (known) known.count += count;
    else if (this.#counts.size < MAX_PROBLEMS) this.#counts.set(key, { problem, count });
    else this.#others += count;
  }

  list(): readonly Problem[] {
    if (!this.#counts) return NONE;
    const problems = Array.from(this.#counts.values(), ({ problem, count }) => withCount(problem, count));
    return this.#others === 0
      ? problems
      : [...problems, withCount(makeProblem(null, "truncated", "further problems are not listed"), this.#others)];
  }
}

function withCount({ crawler, code, message }: Problem, count: number): Problem {
  return count === 1 ? { crawler, code, message } : { crawler, code, message, count };
}
