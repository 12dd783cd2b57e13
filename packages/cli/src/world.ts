import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "@trawler/plugin-api";
import { tellTermination } from "./termination.ts";

/** What a command may touch: given in by `bin.ts`, so that nothing below reaches for the process by itself. */
export interface World {
  readonly env: NodeJS.ProcessEnv;
  readonly userId: number;
  readonly clock: Clock;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Tells whoever runs this process, beside the log, why it ends by itself. */
  readonly tellEnd?: (message: string) => void;
}

interface Output {
  readonly terminal: boolean;
  /** False where NO_COLOR asks for none. */
  readonly colours: boolean;
  /** Characters of a line. */
  readonly columns: number;
  /** Resolves once the text is taken. */
  write(text: string): Promise<void>;
}

/** Of what is no terminal. */
const COLUMNS = 120;

export function processWorld(): World {
  const output = (stream: NodeJS.WriteStream): Output => ({
    terminal: stream.isTTY,
    colours: stream.isTTY && !process.env["NO_COLOR"],
    columns: stream.columns ?? COLUMNS,
    write: (text) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      stream.write(text, () => resolve());
      return Promise.race([promise, delay(5_000, undefined, { ref: false })]);
    },
  });
  return {
    env: process.env,
    userId: process.getuid?.() ?? -1,
    clock: { now: () => Date.now(), monotonic: () => performance.now() / 1000 },
    stdout: output(process.stdout),
    stderr: output(process.stderr),
    tellEnd: tellTermination,
  };
}
