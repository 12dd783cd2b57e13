/** One long-running part of the testbed. */
export interface Component {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files that it reads at start; one that changed restarts it. */
  readonly files?: ReadonlyMap<string, string>;
  /** Runs before each start. */
  readonly prepare?: () => Promise<void>;
  /** True once it serves. */
  readonly ready: () => Promise<boolean>;
  /** Milliseconds from start to ready. */
  readonly deadline: number;
}
