/** All codes of errors that cross a boundary of this project. Test `code`, never `instanceof`. */
export type ErrorCode =
  /** The configuration is wrong: file, key, expected value and how to mend it stand in the message. */
  | "TRAWLER_CONFIG_INVALID"
  /** A package is no plugin, or speaks another contract version. */
  | "TRAWLER_PLUGIN_INVALID"
  /** A call ran past its deadline. */
  | "TRAWLER_PLUGIN_TIMEOUT"
  /** An earlier call has not returned yet, so this one was not made. */
  | "TRAWLER_PLUGIN_STUCK"
  /** A plugin threw something that has no code of ours. */
  | "TRAWLER_PLUGIN_FAILED"
  /** Trying the same again later may work. */
  | "TRAWLER_RETRY"
  /** There is nothing here for this plugin; no failure. */
  | "TRAWLER_UNSUPPORTED"
  /** A bound was reached; what was gathered is kept. */
  | "TRAWLER_LIMIT"
  /** The kernel or an application refused access. */
  | "TRAWLER_DENIED"
  /** The process, container or file went away meanwhile. */
  | "TRAWLER_GONE"
  /** A path or a file is not of a kind that may be read (device, FIFO, escape, foreign file system). */
  | "TRAWLER_REFUSED"
  /** A service that is needed cannot be reached. */
  | "TRAWLER_UNAVAILABLE"
  /** Another agent holds the state folder, or an address is taken. */
  | "TRAWLER_BUSY"
  /** The platform lacks something that is needed (not Linux, no FFI). */
  | "TRAWLER_PLATFORM";

/** Every error that crosses a plugin's boundary. */
export class TrawlerError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TrawlerError";
    this.code = code;
  }
}

/** Tells the host that trying again later may work. */
export function retryable(message: string, cause?: unknown): TrawlerError {
  return new TrawlerError("TRAWLER_RETRY", message, { cause });
}

/** Tells the host that this target has nothing for this crawler; it is no failure. */
export function unsupported(message: string, cause?: unknown): TrawlerError {
  return new TrawlerError("TRAWLER_UNSUPPORTED", message, { cause });
}

/** The `code` of an error of any origin (ours, Node's `ENOENT`, a client's), or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
