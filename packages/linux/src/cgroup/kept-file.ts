import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { errorCode, TrawlerError } from "@trawler/plugin-api";

/** Above what any file of a cgroup holds; `cgroup.procs` of tens of thousands is cut. */
const MAX_BYTES = 256 * 1024;
/** The kernel answers a long file by pages, each as full as its records allow; a shorter answer is the last. */
const LAST_BYTES = 2048;

/** The buffer that all reads of one node share: they are synchronous, as cgroup files never block. */
export class ReadBuffer {
  readonly bytes: Buffer = Buffer.allocUnsafe(MAX_BYTES);
}

/**
 * The descriptors of one cgroup's files, kept open from one read to the next, so that a read is one system call, and so
 * that a cgroup that was removed and made again under the same name is never mistaken for the first one.
 */
export class KeptFiles implements Disposable {
  readonly #buffer: ReadBuffer;
  readonly #descriptors = new Map<string, number>();
  #closed = false;
  #gone = false;

  constructor(buffer: ReadBuffer) {
    this.#buffer = buffer;
  }

  /** The text of a file of one of its folders, no two of which have a file of the same name; null where there is none, or where the kernel has none to give. Throws TRAWLER_GONE after removal. */
  read(folder: string, name: string): string | null {
    if (this.#closed) throw new TrawlerError("TRAWLER_GONE", "access to this cgroup was closed");
    try {
      let descriptor = this.#descriptors.get(name);
      if (descriptor === undefined) {
        const path = `${folder}/${name}`;
        // Cheaper than an error, for the files that a kernel lacks and that are asked for each time.
        if (!existsSync(path)) return null;
        descriptor = openSync(path, "r");
        this.#descriptors.set(name, descriptor);
      }
      return this.#readAll(descriptor);
    } catch (error) {
      this.#gone ||= errorCode(error) === "ENODEV";
      return answerOf(error, `${folder}/${name}`);
    }
  }

  /** A read has found the cgroup removed; one of the same name would be another. */
  get gone(): boolean {
    return this.#gone;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
  }

  #readAll(descriptor: number): string {
    const { bytes } = this.#buffer;
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, length);
      length += count;
      if (count < LAST_BYTES) break;
    }
    // These files are ASCII.
    return bytes.toString("latin1", 0, length);
  }
}

/** Missing, switched off (EOPNOTSUPP: pressure, `cgroup.procs` of a threaded cgroup) or not allowed: null. */
function answerOf(error: unknown, path: string): null {
  switch (errorCode(error)) {
    case "ENOENT":
    case "EOPNOTSUPP":
    case "ENOTSUP":
    case "EACCES":
    case "EPERM":
    case "EINVAL":
    case "EIO":
      return null;
    case "ENODEV":
      throw new TrawlerError("TRAWLER_GONE", `the cgroup of ${path} has been removed`, { cause: error });
    case "EMFILE":
    case "ENFILE":
      throw new TrawlerError("TRAWLER_LIMIT", "no file descriptor is left", { cause: error });
    default:
      throw error;
  }
}
