import { type Access, type CrawlContext, errorMessage, type Feature, type Problem } from "@trawler/plugin-api";
import type { CallCrawler } from "./call.ts";
import type { Guard } from "./guard.ts";
import type { CrawlerInstance } from "./options.ts";
import { makeProblem, ProblemList, problemCode, problemOf } from "./problem.ts";
import { sanitize } from "./sanitize.ts";

/** Bounds of what one call may yield. */
export interface CrawlLimits {
  readonly features: number;
  readonly bytes: number;
}

/** 200 processes, 500 listening sockets and 500 peers of one member, and as many again. */
export const DEFAULT_LIMITS: CrawlLimits = { features: 2500, bytes: 1_048_576 };

/** Of a crawler that works by difference, whose whole value is sent once and then rarely: the files of a container. */
export const DIFFERENCE_LIMITS: CrawlLimits = { features: 10_000, bytes: 4 * 1_048_576 };

export interface CallResult {
  readonly features: readonly Feature[];
  readonly problems: readonly Problem[];
}

export interface CallAnswer extends CallResult {
  /** It said all that it can, as against being cut off or failing half-way. */
  readonly whole: boolean;
}

/** One call: what it is about and what it may use. */
export interface CrawlCall {
  readonly crawler: CrawlerInstance;
  readonly guard: Guard;
  /** Under which an abandoned call is remembered. */
  readonly key: string;
  readonly access: Partial<Access>;
  readonly context: Omit<CrawlContext, "signal" | "problem">;
  readonly limits: CrawlLimits;
  readonly call: CallCrawler;
}

/**
 * Asks one crawler about one target. Whatever the plugin does, the answer is what it had yielded until then and a
 * problem; only the abort of `signal` throws. `unsupported` is a problem only where the crawler was asked for.
 */
export async function crawlOne(request: CrawlCall, signal: AbortSignal): Promise<CallAnswer> {
  const { crawler, guard, key, access, limits, call } = request;
  const { id, plugin, timeout } = crawler;
  const features: Feature[] = [];
  const problems = new ProblemList();
  // What an abandoned call reports later belongs to no frame.
  let open = true;
  const problem: CrawlContext["problem"] = (code, message) => {
    if (open) problems.add(makeProblem(id, CALLER_CODES.has(code) ? code : "failed", errorMessage(message)));
  };
  const isDeclared = (type: string): boolean => Object.hasOwn(plugin.features, type);
  let seen = 0;
  let bytes = 0;
  let whole = true;
  try {
    await guard.call(key, timeout, signal, async (deadline) => {
      for await (const raw of call(crawler, access, { ...request.context, signal: deadline, problem })) {
        deadline.throwIfAborted();
        const { feature, ...rest } = sanitize(raw, isDeclared);
        bytes += "bytes" in rest ? rest.bytes : 0;
        if (++seen > limits.features || bytes > limits.bytes) {
          problem("truncated", `stopped after ${features.length} features: the bound of one call`);
          break;
        }
        if (feature) features.push(feature);
        else if ("reason" in rest) problem("failed", rest.reason);
      }
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const wanted = crawler.named || request.context.asked !== "always";
    const code = problemCode(error);
    whole = LASTING.has(code);
    if (code !== "unsupported" || wanted) problems.add(problemOf(id, error));
  } finally {
    open = false;
  }
  return { features, problems: problems.list(), whole };
}

/** What the next call would meet as well, after the same features. */
const LASTING: ReadonlySet<string> = new Set(["unsupported", "denied", "truncated"]);

const CALLER_CODES: ReadonlySet<string> = new Set(["denied", "truncated", "failed", "unavailable"]);
