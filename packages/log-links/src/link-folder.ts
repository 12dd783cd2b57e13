import {
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { INDEX, type LogEntry, readIndex } from "./index-file.ts";

const NEXT_INDEX = ".index.json.next";
const NEXT_LINK = ".link.next";

/** What could not be done to one link: tried again at the next pass. */
export interface LinkFailure {
  readonly link: string;
  readonly reason: string;
}

/** Makes the folder where it is not there. Throws TRAWLER_DENIED, and TRAWLER_REFUSED where others may write to it. */
export function prepareFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o755 });
    const stats = lstatSync(path);
    if (stats.isDirectory() && stats.uid === process.geteuid?.() && (stats.mode & 0o022) === 0) return;
  } catch (error) {
    const why = errorCode(error) ?? errorMessage(error);
    throw new TrawlerError("TRAWLER_DENIED", `the folder ${path} cannot be used (${why}): --folder names another`, {
      cause: error,
    });
  }
  throw new TrawlerError(
    "TRAWLER_REFUSED",
    `the folder ${path} must be ours and writable for no one else: another could turn its links elsewhere`,
  );
}

/**
 * The folder of links. What the index names and still says what the index says is ours; nothing else is replaced or
 * removed. The index is written before a link is made, so that a run that was killed leaves none that nobody knows.
 */
export class LinkFolder {
  readonly path: string;
  /** What each of our links says; more than one text where a run was killed between two. */
  readonly #ours = new Map<string, ReadonlySet<string>>();
  #written = "";

  /** Over a folder that {@link prepareFolder} made and no other run holds. Removes an earlier run's links into its process. */
  constructor(path: string) {
    this.path = path;
    for (const name of [NEXT_INDEX, NEXT_LINK]) rmSync(join(path, name), { force: true });
    const index = readIndex(path);
    const found = [...(index?.leaving ?? []), ...(index?.logs ?? [])];
    for (const { link, target } of found) {
      if (link !== null && target !== null) this.#ours.set(link, new Set([...(this.#ours.get(link) ?? []), target]));
    }
    const kept = (index?.logs ?? []).filter(({ target }) => target !== null && !isDescriptor(target));
    if (index !== null) this.apply(kept);
  }

  /** Links of ours that exist. */
  get size(): number {
    return this.#ours.size;
  }

  /** Whether a link may still say this. */
  says(target: string): boolean {
    return [...this.#ours.values()].some((targets) => targets.has(target));
  }

  /** Makes the folder hold what the entries say: those with a target as links, in the index all. Never throws for a link. */
  apply(entries: readonly LogEntry[]): readonly LinkFailure[] {
    const wanted = new Map(
      entries.flatMap(({ link, target }) => (link === null || target === null ? [] : [[link, target]])),
    );
    const same = [...wanted].every(([link, target]) => isOnly(this.#ours.get(link), target));
    const changes = !same || wanted.size !== this.#ours.size;
    this.#write(entries, changes);
    if (!changes) return [];
    const failures: LinkFailure[] = [];
    const attempt = (link: string, work: () => void): void => {
      try {
        work();
      } catch (error) {
        failures.push({ link, reason: errorCode(error) ?? errorMessage(error) });
      }
    };
    for (const link of [...this.#ours.keys()]) if (!wanted.has(link)) attempt(link, () => this.#remove(link));
    for (const [link, target] of wanted) attempt(link, () => this.#make(link, target));
    const failed = new Set<string | null>(failures.map(({ link }) => link));
    this.#write(
      entries.map((entry) => (failed.has(entry.link) ? { ...entry, target: null } : entry)),
      failures.length > 0,
    );
    return failures;
  }

  #make(link: string, target: string): void {
    const path = join(this.path, link);
    const known = this.#ours.get(link);
    const present = textOf(path);
    if (present === target && known?.has(target) === true) {
      this.#ours.set(link, new Set([target]));
      return;
    }
    if (present !== null && known?.has(present) !== true)
      throw new TrawlerError("TRAWLER_REFUSED", "not a link of ours");
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    const next = join(this.path, NEXT_LINK);
    rmSync(next, { force: true });
    symlinkSync(target, next);
    renameSync(next, path);
    this.#ours.set(link, new Set([target]));
  }

  #remove(link: string): void {
    const path = join(this.path, link);
    const present = textOf(path);
    if (present !== null && this.#ours.get(link)?.has(present) === true) unlinkSync(path);
    this.#ours.delete(link);
    for (let name = dirname(link); name !== "."; name = dirname(name)) {
      try {
        rmdirSync(join(this.path, name));
      } catch {
        // Something else is in there, or it has gone.
        break;
      }
    }
  }

  /** While links change, those that go or turn are named too. */
  #write(logs: readonly LogEntry[], changing: boolean): void {
    const leaving = changing
      ? [...this.#ours].flatMap(([link, targets]) => [...targets].map((target) => ({ link, target })))
      : [];
    const text = `${JSON.stringify({ version: 1, logs, leaving }, null, 1)}\n`;
    if (text === this.#written) return;
    const next = join(this.path, NEXT_INDEX);
    writeFileSync(next, text, { mode: 0o644, flush: true });
    renameSync(next, join(this.path, INDEX));
    this.#written = text;
  }
}

/** A target in a process, which shows whatever it has opened: after the process has ended, perhaps another. */
function isDescriptor(target: string): boolean {
  return /\/\d+\/fd\/\d+$/.test(target);
}

function isOnly(targets: ReadonlySet<string> | undefined, target: string): boolean {
  return targets?.size === 1 && targets.has(target);
}

/** The text of a link; null where nothing is there, and an empty one for what is no link. */
function textOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    if (errorCode(error) === "EINVAL") return "";
    throw error;
  }
}
