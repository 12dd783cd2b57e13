/**
 * Finds a file inside a root. Both ways of doing it never leave the root whatever links say, follow no magic link and
 * never step onto a mount whose file system is not read. They throw errors with the `code` of errno(3).
 */
export interface Resolver {
  /** An O_PATH descriptor of `path`, taken from `root`; `follow` says whether a link in the last place is followed. */
  open(root: number, path: Buffer, follow: boolean): number;
  /**
   * How to open the entries of one folder, whose descriptor must stay open: each call gives an O_PATH descriptor, never of
   * what a link points to; EXDEV where another mount covers the entry.
   */
  entries(folder: number): (name: Buffer) => number;
}

/** As the kernel's own bound for one path. */
export const MAX_LINKS = 40;
/** Folders held open at once while a path is walked. */
export const MAX_FOLDERS = 256;
/** PATH_MAX, without its end mark. */
export const MAX_PATH_BYTES = 4095;
