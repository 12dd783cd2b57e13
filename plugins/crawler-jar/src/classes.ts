import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { inflateRawSync } from "node:zlib";
import type { DigestAlgorithm, ReadAt } from "@trawler/plugin-api";
import { Damaged, readDirectory, readStored, type ZipEntry } from "./zip.ts";

/** What is read of one archive. */
export interface ArchiveContent {
  /** Digests of the classes in the order of the archive, hexadecimal; null for one that cannot be read. */
  readonly classes: readonly (string | null)[];
  /** Names of the archives inside, in its order. */
  readonly archives: readonly string[];
  /** Why that is not all; null where it is. */
  readonly shortfall: string | null;
}

/** Bytes of classes that one crawl may still unpack. */
interface Allowance {
  left: number;
}

export interface ArchiveOptions {
  readonly algorithm: DigestAlgorithm;
  readonly isArchive: (name: string) => boolean;
  readonly allowance: Allowance;
  readonly signal: AbortSignal;
}

const STORED = 0;
const DEFLATED = 8;
const MAX_ENTRIES = 100_000;
const MAX_DIRECTORY = 16 * 1_048_576;
/** The largest class that a Java machine loads is far smaller: a method has 64 KiB, a class as many. */
const MAX_CLASS = 16 * 1_048_576;
/** Bytes between which others get their turn. */
const TURN = 1_048_576;

/** Lists an archive and digests its classes, each unpacked alone. Throws `Damaged` where it is no archive. */
export async function readArchive(readAt: ReadAt, size: number, options: ArchiveOptions): Promise<ArchiveContent> {
  const { algorithm, isArchive, allowance, signal } = options;
  const limits = { maxEntries: MAX_ENTRIES, maxDirectory: MAX_DIRECTORY };
  const { entries, truncated } = await readDirectory(readAt, size, limits);
  const archives = entries.map(({ name }) => name).filter(isArchive);
  const classes: (string | null)[] = [];
  let turn = TURN;
  for (const entry of entries.filter(({ name }) => name.endsWith(".class"))) {
    if (allowance.left <= 0) return { classes, archives, shortfall: "more classes than one crawl unpacks" };
    const bytes = isReadable(entry) ? await unpack(readAt, entry) : null;
    // One that did not unpack may have cost as much as the largest.
    const cost = 512 + (bytes?.length ?? (isReadable(entry) ? MAX_CLASS : 0));
    allowance.left -= cost;
    turn -= cost;
    classes.push(bytes && createHash(algorithm).update(bytes).digest("hex"));
    if (turn > 0) continue;
    turn = TURN;
    await setImmediate();
    signal.throwIfAborted();
  }
  const unread = classes.filter((one) => one === null).length;
  const lost = unread === 0 ? null : `${unread} of ${classes.length} classes cannot be read`;
  return { classes, archives, shortfall: truncated ? "more entries than are read" : lost };
}

function isReadable({ encrypted, method, compressedSize }: ZipEntry): boolean {
  return !encrypted && compressedSize <= MAX_CLASS && (method === STORED || method === DEFLATED);
}

/** Null where an entry is not what it says, or unpacks to more than a class. */
async function unpack(readAt: ReadAt, entry: ZipEntry): Promise<Uint8Array | null> {
  try {
    const bytes = await readStored(readAt, entry);
    return entry.method === STORED ? bytes : inflateRawSync(bytes, { maxOutputLength: MAX_CLASS });
  } catch (error) {
    if (error instanceof Damaged || isZlibError(error)) return null;
    throw error;
  }
}

function isZlibError(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("code" in error)) return false;
  return String(error.code).startsWith("Z_") || error.code === "ERR_BUFFER_TOO_LARGE";
}
