import { errorCode } from "./errors.ts";

/**
 * How a frame names a failure that costs one part of what is read (a file, a folder), so that the rest is read all the
 * same. What ends the whole call is thrown on: the member has gone, a deadline or an abort, a mistake of the program.
 */
export function partProblem(error: unknown): "denied" | "truncated" | "failed" {
  switch (errorCode(error)) {
    case "TRAWLER_DENIED":
    case "TRAWLER_REFUSED":
      return "denied";
    case "TRAWLER_LIMIT":
      return "truncated";
    // It has vanished since it was found.
    case "TRAWLER_UNSUPPORTED":
      return "failed";
    default:
      throw error;
  }
}
