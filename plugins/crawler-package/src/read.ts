import { posix } from "node:path";
import { errorCode, type FileSystemAccess, fileReader, type ReadOptions } from "@trawler/plugin-api";
import { parseApk } from "./apk.ts";
import { type ListedAt, parseDpkg } from "./dpkg.ts";
import { type Database, fingerprint } from "./find.ts";
import { type InstalledPackage, type PackageList, type Shortfall, tooMany } from "./package.ts";
import { readBerkeley, readSqlite } from "./rpm.ts";

/** A Debian with 3,000 packages has a status of 4 MiB. */
const MAX_TEXT = 8 * 1_048_576;
const MAX_STATUS_FILE = 65_536;
/** A database of 3,000 packages has some 150 MB, a container's 10 to 30; parts of it are read twice. */
const MAX_READ = 512 * 1_048_576;
/** Four to six files for each package. */
const MAX_INFO = 50_000;

export interface Reading extends ReadOptions {
  readonly fs: FileSystemAccess;
  /** When the container started, milliseconds; null where that says nothing. */
  readonly startedAt: number | null;
  readonly max: number;
}

/** What one database holds. Throws only where nothing of it can be read. */
function readDatabase(database: Database, reading: Reading): Promise<PackageList> {
  const { fs, startedAt, max, ...options } = reading;
  const source = (path: string) => fileReader(fs, path, { ...options, maxBytes: MAX_READ });
  const [main, log] = database.files.map(({ path }) => path);
  switch (database.format) {
    case "dpkg-status":
      return readDpkg(database, reading);
    case "dpkg-status.d":
      return readDpkgFolder(database, reading);
    case "apk-installed":
      return readWhole(fs, database.path, options).then(({ text, cut }) => parseApk(text, max, cut));
    case "rpm-sqlite":
      return readSqlite(source(main ?? ""), log === undefined ? null : source(log), startedAt, max);
    case "rpm-berkeley":
      return readBerkeley(source(database.path), startedAt, max);
    case "rpm-ndb":
      return Promise.resolve({ packages: [], shortfall: { code: "failed", message: NDB } });
  }
}

const NDB = "rpm's ndb format is not read: no database of it was at hand to prove a reader";

/** Written after the container started. No program can set a file's time of change back. */
export function isDrift(changed: string, startedAt: number | null): boolean | null {
  return startedAt === null ? null : Date.parse(changed) > startedAt;
}

async function readWhole(fs: FileSystemAccess, path: string, options: ReadOptions) {
  const { bytes, truncated } = await fs.read(path, { ...options, maxBytes: MAX_TEXT });
  return { text: new TextDecoder().decode(bytes), cut: truncated };
}

async function readDpkg({ path }: Database, { fs, startedAt, max, ...options }: Reading): Promise<PackageList> {
  const { text, cut } = await readWhole(fs, path, options);
  return parseDpkg(text, await listsOf(fs, startedAt, options), max, cut);
}

/** dpkg writes `info/NAME.list`, or `info/NAME:ARCHITECTURE.list`, each time it unpacks a package. */
async function listsOf(fs: FileSystemAccess, startedAt: number | null, options: ReadOptions): Promise<ListedAt> {
  const lists = new Map<string, Pick<InstalledPackage, "installed" | "drift">>();
  const folder = "/var/lib/dpkg/info";
  try {
    for await (const batch of fs.walk(folder, { ...options, maxDepth: 1, maxEntries: MAX_INFO })) {
      for (const { path, type, modified, changed } of batch) {
        if (type !== "file" || !path.endsWith(".list")) continue;
        lists.set(posix.basename(path, ".list"), { installed: modified, drift: isDrift(changed, startedAt) });
      }
    }
  } catch (error) {
    // They only add times: what is absent, refused or too much leaves those unknown.
    if (!TOLERATED.has(errorCode(error) ?? "")) throw error;
  }
  const unknown = { installed: null, drift: null };
  return (name, architecture) => lists.get(`${name}:${architecture}`) ?? lists.get(name) ?? unknown;
}

const TOLERATED: ReadonlySet<string> = new Set([
  "TRAWLER_UNSUPPORTED",
  "TRAWLER_DENIED",
  "TRAWLER_REFUSED",
  "TRAWLER_LIMIT",
]);

async function readDpkgFolder({ files }: Database, { fs, startedAt, max, ...options }: Reading): Promise<PackageList> {
  const packages: InstalledPackage[] = [];
  let shortfall: Shortfall | null = null;
  for (const { path, modified, changed } of files.slice(1)) {
    if (packages.length >= max) return { packages, shortfall: tooMany(max) };
    const { bytes, truncated } = await fs.read(path, { ...options, maxBytes: MAX_STATUS_FILE });
    const listed = { installed: modified, drift: isDrift(changed, startedAt) };
    const found = parseDpkg(new TextDecoder().decode(bytes), () => listed, max - packages.length, truncated);
    packages.push(...found.packages);
    shortfall ??= found.shortfall;
  }
  return { packages, shortfall };
}

/** Reads until a database was the same before and after, twice at most: its owner may be writing to it. */
export async function readSteadily(
  database: Database,
  reading: Reading,
  again: () => Promise<Database | undefined>,
): Promise<PackageList> {
  const first = await readDatabase(database, reading);
  const now = await again();
  if (now === undefined || fingerprint([now]) === fingerprint([database])) return first;
  const second = await readDatabase(now, reading);
  const last = await again();
  const steady = last !== undefined && fingerprint([last]) === fingerprint([now]);
  if (steady) return second;
  return { ...second, shortfall: second.shortfall ?? { code: "failed", message: "written to while it was read" } };
}
