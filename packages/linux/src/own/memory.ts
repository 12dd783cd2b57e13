import { readFile } from "node:fs/promises";
import { loadLibc } from "../ffi/libc.ts";

/** One mapping of this process that can be given back: addresses, as /proc/self/smaps has them. */
export interface Mapping {
  readonly start: number;
  readonly end: number;
}

/**
 * Gives back what the start of this process used and its run does not: free blocks that the allocator keeps
 * (malloc_trim(3)) and mapped pages of programs and libraries (madvise(2), MADV_DONTNEED). Both come back by themselves
 * where they are used again; the pages of files stay in the page cache. False where the C library cannot be called.
 */
export async function releaseUnused(): Promise<boolean> {
  const libc = await loadLibc();
  if (libc === null) return false;
  libc.trim();
  for (const { start, end } of cleanFileMappings(await readFile("/proc/self/smaps", "latin1"))) {
    libc.dontNeed(start, end - start);
  }
  return true;
}

const HEADER = /^([0-9a-f]+)-([0-9a-f]+) r-[x-]p [0-9a-f]+ [0-9a-f]+:[0-9a-f]+ \d+ +\//;

/**
 * The read-only mappings of files in which no page was ever written: only there is the file all that is to be read again.
 * A page that the loader wrote to before it made the mapping read-only would be lost.
 */
export function cleanFileMappings(smaps: string): readonly Mapping[] {
  return smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).flatMap((text) => {
    const match = HEADER.exec(text);
    if (match === null || !/^Anonymous: +0 kB$/m.test(text)) return [];
    return [{ start: Number.parseInt(match[1] ?? "", 16), end: Number.parseInt(match[2] ?? "", 16) }];
  });
}
