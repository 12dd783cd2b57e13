import { type Access, type CrawlContext, errorMessage, type Feature, type Problem } from "@trawler/plugin-api";
import type { Deadline, Guard } from "./guard.ts";
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
  readonly context: CallFacts;
  readonly limits: CrawlLimits;
}

/** What a context holds besides what this file gives it. */
type CallFacts = Omit<CrawlContext, "signal" | "problem">;

/**
 * Asks one crawler about one target. Whatever the plugin does, the answer is what it had yielded until then and a
 * problem; only the abort of `signal` throws. `unsupported` is a problem only where the crawler was asked for.
 */
export async function crawlOne(request: CrawlCall, signal: AbortSignal): Promise<CallAnswer> {
  const { crawler, guard, key, context } = request;
  const found = new Found(crawler.id);
  let whole = true;
  try {
    await guard.enter(key, crawler.timeout, signal, (deadline) => read(request, found, deadline));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const wanted = crawler.named || context.asked !== "always";
    const code = problemCode(error);
    whole = LASTING.has(code);
    if (code !== "unsupported" || wanted) found.problems.add(problemOf(crawler.id, error));
  } finally {
    found.open = false;
  }
  return { features: found.features, problems: found.problems.list(), whole };
}

/** What one call has yielded and reported so far. */
class Found {
  readonly features: Feature[] = [];
  readonly problems: ProblemList = new ProblemList();
  readonly #crawler: string;
  /** What an abandoned call reports later belongs to no frame. */
  open = true;

  constructor(crawler: string) {
    this.#crawler = crawler;
  }

  report(code: Parameters<CrawlContext["problem"]>[0], message: string): void {
    if (!this.open) return;
    const known = CALLER_CODES.has(code) ? code : "failed";
    this.problems.add(makeProblem(this.#crawler, known, errorMessage(message)));
  }
}

async function read({ crawler, access, context, limits }: CrawlCall, found: Found, deadline: Deadline): Promise<void> {
  let seen = 0;
  let bytes = 0;
  // Complete by construction: `targets.ts` leaves out a target that lacks a declared capability.
  const features = crawler.instance.crawl(access as Access, contextOf(context, found, deadline));
  for await (const raw of features) {
    deadline.throwIfAborted();
    const safe = sanitize(raw, crawler.plugin.features);
    if (safe.feature !== null) bytes += safe.bytes;
    if (++seen > limits.features || bytes > limits.bytes) {
      found.report("truncated", `stopped after ${found.features.length} features: the bound of one call`);
      break;
    }
    if (safe.feature !== null) {
      if (found.open) found.features.push(safe.feature);
    } else found.report("failed", safe.reason);
  }
}

function contextOf(facts: CallFacts, found: Found, deadline: Deadline): CrawlContext {
  const { clock, log, state, asked, annotation, unchanged, fingerprint } = facts;
  return {
    clock,
    log,
    state,
    asked,
    annotation,
    unchanged,
    fingerprint,
    // An own property, so that a copy has it as well; made only where someone looks.
    get signal() {
      return deadline.signal;
    },
    problem: (code, message) => found.report(code, message),
  };
}

/** What the next call would meet as well, after the same features. */
const LASTING: ReadonlySet<string> = new Set(["unsupported", "denied", "truncated"]);

const CALLER_CODES: ReadonlySet<string> = new Set(["denied", "truncated", "failed", "unavailable"]);
