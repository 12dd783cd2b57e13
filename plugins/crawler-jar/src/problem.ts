import { errorCode } from "@trawler/plugin-api";

/** What the frame says of a failure that costs a part; what ends the crawl itself is thrown on. */
export function problemCode(error: unknown, signal: AbortSignal): "denied" | "truncated" | "failed" {
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
      if (signal.aborted) throw signal.reason;
      throw error;
  }
}
