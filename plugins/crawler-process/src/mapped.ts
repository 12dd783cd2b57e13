import type { MappedFiles, ProcessStatus } from "@trawler/plugin-api";

/** Length of all paths of one crawl: a quarter of what a crawler may say. */
const MAX_LENGTH = 262_144;
/** Of those of one process: what a frame holds of a list. */
const MAX_LIST_LENGTH = 16_000;

/** Counts what the mapped files of one crawl's processes take, and what of them is not told. */
export class MappedBudget {
  #left = MAX_LENGTH;
  #cut = 0;
  #unread = 0;

  /** The field of one process: absent where nobody asked for it, null where it is not known. */
  fieldOf({ mappedFiles, memoryVirtual }: ProcessStatus): { readonly mappedFiles?: readonly string[] | null } {
    if (mappedFiles === undefined) return {};
    if (mappedFiles === null) {
      // A zombie and a thread of the kernel have no memory, so that nothing is missed.
      if (memoryVirtual !== null) this.#unread += 1;
      return { mappedFiles: null };
    }
    return { mappedFiles: this.#take(mappedFiles) };
  }

  #take({ paths, truncated }: MappedFiles): readonly string[] {
    const kept: string[] = [];
    const allowed = Math.min(this.#left, MAX_LIST_LENGTH);
    let length = 0;
    for (const path of paths) {
      if (length + path.length > allowed) break;
      length += path.length;
      kept.push(path);
    }
    this.#left -= length;
    if (truncated || kept.length < paths.length) this.#cut += 1;
    return kept;
  }

  report(problem: (code: "denied" | "truncated", message: string) => void): void {
    if (this.#unread > 0) problem("denied", `mapped files of ${counted(this.#unread)} could not be read`);
    if (this.#cut > 0) problem("truncated", `mapped files of ${counted(this.#cut)} are not listed whole`);
  }
}

function counted(count: number): string {
  return count === 1 ? "one process" : `${count} processes`;
}
