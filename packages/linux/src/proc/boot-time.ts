import type { Clock } from "@trawler/plugin-api";
import type { ProcFiles } from "./files.ts";
import { parseSystemStat } from "./system.ts";

/** Seconds that a value is kept: it changes only where the wall clock is set. */
const KEEP = 60;
/** A line holds a count per interrupt: long on large machines. */
const STAT_BYTES = 1024 * 1024;

/** When the machine booted; `/proc/stat` is long on large machines, so its answer is kept for a minute. */
export class BootTime {
  readonly #files: ProcFiles;
  readonly #clock: Clock;
  #value: { readonly seconds: number; readonly readAt: number } | null = null;

  constructor(files: ProcFiles, clock: Clock) {
    this.#files = files;
    this.#clock = clock;
  }

  /** Seconds since the epoch; 0 where the kernel does not say. */
  seconds(): number {
    const now = this.#clock.monotonic();
    if (this.#value === null || now - this.#value.readAt > KEEP) {
      const { bootTime } = parseSystemStat(this.#files.text("stat", STAT_BYTES));
      this.#value = { seconds: bootTime ?? 0, readAt: now };
    }
    return this.#value.seconds;
  }
}
