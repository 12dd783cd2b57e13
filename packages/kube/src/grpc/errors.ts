import { type ErrorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";

/** Status codes of gRPC to ours; what is not listed may heal. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  4: "TRAWLER_PLUGIN_TIMEOUT",
  5: "TRAWLER_GONE",
  7: "TRAWLER_DENIED",
  8: "TRAWLER_LIMIT",
  12: "TRAWLER_UNSUPPORTED",
  14: "TRAWLER_UNAVAILABLE",
  16: "TRAWLER_DENIED",
};

/** Turns what the gRPC client throws into an error of ours that names call and socket. */
export function grpcError(error: unknown, method: string, socket: string): TrawlerError {
  const message = errorMessage(error).replace(/ Resolution note: $/, "");
  const status = typeof error === "object" && error !== null && "code" in error ? Number(error.code) : Number.NaN;
  const code = /\bEACCES\b|\bEPERM\b/.test(message) ? "TRAWLER_DENIED" : (CODES[status] ?? "TRAWLER_RETRY");
  return new TrawlerError(code, `${method} at ${socket}: ${message.slice(0, 500)}`, { cause: error });
}
