/** What a benchmark is given. */
export interface BenchmarkContext {
  readonly signal: AbortSignal;
  /** One line for whoever watches. */
  log(line: string): void;
  /** Smaller sizes: shows that it works, not how fast. */
  readonly quick: boolean;
}

/** One line of the report. */
export interface BenchmarkRow {
  readonly what: string;
  /** With its unit, and its spread where it was measured more than once. */
  readonly figure: string;
  readonly budget?: string;
  readonly met?: boolean;
}

export interface BenchmarkResult {
  readonly rows: readonly BenchmarkRow[];
  /** How it was measured, in a few sentences. */
  readonly method: string;
  readonly raw?: unknown;
}

/** Each is a module that exports one of these as `bench`. */
export interface Benchmark {
  readonly name: string;
  readonly title: string;
  run(context: BenchmarkContext): Promise<BenchmarkResult>;
}
