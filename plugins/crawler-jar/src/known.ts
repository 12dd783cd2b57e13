import type { FileStatus } from "@trawler/plugin-api";
import type { Archive } from "./read.ts";

/** Archives that are remembered; with 100 digests of classes each, some 15 MB. */
const MAX_KNOWN = 2000;

/**
 * What was read of archives whose size and times are the same, the latest last: a crawl that was cut off by its deadline
 * goes on where it ended at the next one, and a change of one archive costs that one.
 */
export class KnownArchives {
  readonly #known = new Map<string, Archive>();

  get(status: FileStatus): Archive | undefined {
    return this.#known.get(keyOf(status));
  }

  /** Keeps what was read whole; what could not be read is tried, and told, again. */
  add(status: FileStatus, archive: Archive): void {
    if (archive.digest === null || archive.classesDigest === null) return;
    const [oldest] = this.#known.keys();
    if (this.#known.size === MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(keyOf(status), archive);
  }
}

/** The time of change is the kernel's: a container that writes another file cannot choose it. */
const keyOf = ({ path, size, modified, changed }: FileStatus): string => `${size} ${modified} ${changed} ${path}`;
