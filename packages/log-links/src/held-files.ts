import { closeSync, fstatSync } from "node:fs";
import { TrawlerError } from "@trawler/plugin-api";
import type { Member } from "./member.ts";

interface Held {
  readonly descriptor: number;
  readonly device: bigint;
  readonly inode: bigint;
}

/** How many files may be held, of all containers together. */
export class DescriptorBudget {
  readonly limit: number;
  used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }
}

/**
 * Files of one container, held open. A descriptor shows the very file that was checked, whatever the container puts at
 * its path meanwhile; open for reading, as that keeps the container from a write lease, on which a reader would hang.
 * What is let go is closed by `release` only: a link may still point to it.
 */
export class HeldFiles {
  readonly #held = new Map<string, Held>();
  #loose: number[] = [];
  readonly #budget: DescriptorBudget;

  constructor(budget: DescriptorBudget) {
    this.#budget = budget;
  }

  /** The descriptor of what is at a path now: the one that is held, or another where it is another file. */
  hold(files: Member["files"], path: string): number {
    const known = this.#held.get(path);
    if (known === undefined && this.#budget.used >= this.#budget.limit) {
      throw new TrawlerError("TRAWLER_LIMIT", `no more than ${this.#budget.limit} files are held open`);
    }
    const descriptor = files.openFile(path);
    const { dev: device, ino: inode } = fstatSync(descriptor, { bigint: true });
    // While it is held no other file can have its inode.
    if (known?.device === device && known.inode === inode) {
      closeSync(descriptor);
      return known.descriptor;
    }
    this.#budget.used++;
    if (known !== undefined) this.#loose.push(known.descriptor);
    this.#held.set(path, { descriptor, device, inode });
    return descriptor;
  }

  /** Lets go of all but these. */
  keep(paths: ReadonlySet<string>): void {
    for (const [path, { descriptor }] of this.#held) {
      if (paths.has(path)) continue;
      this.#held.delete(path);
      this.#loose.push(descriptor);
    }
  }

  /** Closes what was let go and no link shows. Returns whether nothing is held any more. */
  release(isShown: (descriptor: number) => boolean): boolean {
    this.#loose = this.#loose.filter((descriptor) => {
      if (isShown(descriptor)) return true;
      closeSync(descriptor);
      this.#budget.used--;
      return false;
    });
    return this.#held.size === 0 && this.#loose.length === 0;
  }
}
