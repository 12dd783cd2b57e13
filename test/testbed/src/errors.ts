/** A testbed step that failed; `message` says which one and what was seen. */
export class TestbedError extends Error {
  readonly code = "TRAWLER_TESTBED";
  override readonly name = "TestbedError";
  /** True where waiting longer cannot help, as when a process has died. */
  readonly final: boolean;

  constructor(message: string, options: { readonly final?: boolean } = {}) {
    super(message);
    this.final = options.final ?? false;
  }
}

/** The `code` of a Node error such as ENOENT, if it has one. */
export const errorCode = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
