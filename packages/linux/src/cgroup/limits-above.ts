import { readFileSync } from "node:fs";
import { type Clock, errorCode } from "@trawler/plugin-api";

/** Seconds: as long as the cgroups of one node are read one after another. */
const KEPT = 1;

/** Limits of the cgroups above those that are read: many have the same ones above them, which are read once for all. */
export class LimitsAbove {
  readonly #clock: Clock;
  readonly #known: Map<string, string | null> = new Map();
  #since = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The text of a limit's file; null where there is none, or where it may not be read. */
  read(path: string): string | null {
    const now = this.#clock.monotonic();
    if (now - this.#since >= KEPT) {
      this.#known.clear();
      this.#since = now;
    }
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const text = readOrNull(path);
    this.#known.set(path, text);
    return text;
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    const code = errorCode(error);
    if (code !== undefined && ABSENT.has(code)) return null;
    throw error;
  }
}

/** Missing, not allowed, or removed while it was read. */
const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENODEV", "EACCES", "EPERM", "EOPNOTSUPP", "EINVAL", "EIO"]);
