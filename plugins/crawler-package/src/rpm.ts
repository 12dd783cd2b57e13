import { errorCode, errorMessage, type ReadAt } from "@trawler/plugin-api";
import { field, type InstalledPackage, type PackageList, type Shortfall, tooMany } from "./package.ts";
import { berkeleyEntries } from "./rpm/berkeley.ts";
import { Damaged } from "./rpm/bytes.ts";
import { type Header, parseHeader } from "./rpm/header.ts";
import { sqliteBlobs } from "./rpm/sqlite.ts";

/** The kernel packages of a large system have headers of a few megabytes. */
const MAX_HEADER = 16 * 1_048_576;
const MAX_LOG = 64 * 1_048_576;
const MAX_PAGES = 1_048_576;
/** Of the largest distributions ten thousands of packages can be installed; beyond stands noise. */
const MAX_ROWS = 100_000;

/** Reads rpm's `rpmdb.sqlite`, with its write-ahead log where there is one. `startedAt` in milliseconds. */
export function readSqlite(
  readAt: ReadAt,
  log: ReadAt | null,
  startedAt: number | null,
  max: number,
): Promise<PackageList> {
  const limits = { maxRow: MAX_HEADER, maxRows: MAX_ROWS, maxLog: MAX_LOG };
  return gather(sqliteBlobs(readAt, log, "Packages", limits), startedAt, max);
}

/** Reads rpm's `Packages` of Berkeley DB. */
export function readBerkeley(readAt: ReadAt, startedAt: number | null, max: number): Promise<PackageList> {
  const limits = { maxValue: MAX_HEADER, maxPages: MAX_PAGES, maxEntries: MAX_ROWS };
  return gather(headersOf(berkeleyEntries(readAt, limits)), startedAt, max);
}

/** Number 0 keeps the highest number of a header, and is none. */
async function* headersOf(entries: AsyncIterable<readonly [Uint8Array, Uint8Array]>): AsyncGenerator<Uint8Array> {
  for await (const [key, value] of entries) if (key.length === 4 && key.some((byte) => byte !== 0)) yield value;
}

/** What can be read until the database contradicts itself; a header that is damaged costs itself alone. */
async function gather(headers: AsyncIterable<Uint8Array>, startedAt: number | null, max: number): Promise<PackageList> {
  const packages: InstalledPackage[] = [];
  let skipped = 0;
  const end = (shortfall: Shortfall | null): PackageList => ({
    packages,
    shortfall: shortfall ?? (skipped === 0 ? null : failure(`${skipped} headers could not be read`)),
  });
  try {
    for await (const blob of headers) {
      const found = packageOf(blob, startedAt);
      if (found === null) skipped++;
      else if (packages.length >= max) return end(tooMany(max));
      else packages.push(found);
    }
    return end(null);
  } catch (error) {
    if (error instanceof Damaged) return end(failure(`damaged: ${error.message}`));
    if (errorCode(error) === "TRAWLER_LIMIT") return end({ code: "truncated", message: errorMessage(error) });
    throw error;
  }
}

const failure = (message: string): Shortfall => ({ code: "failed", message });

function packageOf(blob: Uint8Array, startedAt: number | null): InstalledPackage | null {
  const header = headerOf(blob);
  const name = field(header?.name ?? undefined);
  if (!header || name === null || header.version === null) return null;
  const { version, release, epoch, architecture, size, installed, source } = header;
  const time = installed === null ? null : installed * 1000;
  return {
    name,
    version: `${epoch === null ? "" : `${epoch}:`}${version}${release === null ? "" : `-${release}`}`,
    architecture,
    size,
    source,
    state: null,
    installed: time === null ? null : new Date(time).toISOString(),
    drift: time === null || startedAt === null ? null : time > startedAt,
  };
}

function headerOf(blob: Uint8Array): Header | null {
  try {
    return parseHeader(blob);
  } catch (error) {
    if (error instanceof Damaged) return null;
    throw error;
  }
}
