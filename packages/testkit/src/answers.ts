import { type ErrorCode, TrawlerError } from "@trawler/plugin-api";

/** A scripted answer of a fake: the value itself, `{ error, message }` to throw, or `{ sequence }` for one crawl each. */
export type Answer<T> =
  | T
  | { readonly error: ErrorCode; readonly message?: string }
  | { readonly sequence: readonly Answer<T>[] };

/** The answer at crawl `turn`, counted from 0; the last of a sequence stays. Throws what is scripted to be thrown. */
export function answerOf<T>(answer: Answer<T> | undefined, what: string, turn: number): T {
  if (answer === undefined) throw new TrawlerError("TRAWLER_UNSUPPORTED", `${what} is not there`);
  if (isSequence(answer)) return answerOf(answer.sequence[Math.min(turn, answer.sequence.length - 1)], what, turn);
  if (isFailure(answer)) throw new TrawlerError(answer.error, answer.message ?? `${what}: ${answer.error}`);
  return answer;
}

/** How many crawls the longest sequence among these answers asks for. */
export function turnsOf(answers: object): number {
  const lengths = Object.values(answers).map((answer: unknown) => {
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return 1;
    return "sequence" in answer && Array.isArray(answer.sequence) ? answer.sequence.length : 1;
  });
  return Math.max(1, ...lengths);
}

function isSequence<T>(answer: Answer<T>): answer is { readonly sequence: readonly Answer<T>[] } {
  return typeof answer === "object" && answer !== null && "sequence" in answer;
}

function isFailure<T>(answer: Answer<T>): answer is { readonly error: ErrorCode; readonly message?: string } {
  return typeof answer === "object" && answer !== null && "error" in answer;
}
