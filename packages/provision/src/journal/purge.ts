import type { JournalFolder } from "./folder.ts";
import { newInstance } from "./instance.ts";
import { type Item, isOver, type Run, type RunState } from "./record.ts";

export interface PurgeOptions {
  /** Runs that ended before are forgotten, milliseconds since 1970. */
  readonly before: number;
  /** Say what would be done. */
  readonly dryRun?: boolean;
  /** Runs behind this one are looked at; default: from the oldest. */
  readonly after?: string;
  /** Runs that are looked at; default: all. */
  readonly limit?: number;
  /** Whether the run is spoken for beside its journal: by a task that waits. */
  readonly busy?: (instance: string) => boolean;
}

/** A run that is forgotten. */
export interface Purged {
  readonly instance: string;
  readonly template: string | null;
  readonly state: RunState;
  readonly endedAt: string;
}

/**
 * Whether a run is over and nothing of it is in the cluster, as far as it knows. A run that has succeeded still has its
 * objects, and its journal is what retires them; one that is PARTIAL has some.
 */
export function holdsNothing({ state, leftovers }: Run, items: readonly Pick<Item, "status">[]): boolean {
  return (
    isOver(state) && state !== "PARTIAL" && leftovers.length === 0 && !items.some(({ status }) => HELD.has(status))
  );
}

const HELD: ReadonlySet<Item["status"]> = new Set(["created", "creating", "unknown", "kept", "rollbackFailed"]);

/** Forgets runs, the oldest first, each by itself: what cannot be read, or is at work, is left. */
export function* purge(
  folder: JournalFolder,
  { before, dryRun = false, after = "", limit = Number.POSITIVE_INFINITY, busy = () => false }: PurgeOptions,
): Generator<{ readonly instance: string; readonly purged: Purged | null }> {
  if (!dryRun) removeRemnants(folder, before);
  let looked = 0;
  for (const instance of folder.instances()) {
    if (instance <= after) continue;
    if (looked++ >= limit) return;
    yield { instance, purged: busy(instance) ? null : forget(folder, instance, before, dryRun) };
  }
}

/** Those that are old: one that begins has no journal yet. */
function removeRemnants(folder: JournalFolder, before: number): void {
  const oldest = newInstance(Math.max(0, before)).slice(0, TIME);
  for (const instance of folder.remnants()) {
    if (instance.slice(0, TIME) >= oldest) continue;
    using lock = folder.lock(instance, 0);
    if (lock !== null) folder.remove(instance);
  }
}

/** Characters of an id that are its time. */
const TIME = 10;

function forget(folder: JournalFolder, instance: string, before: number, dryRun: boolean): Purged | null {
  using lock = folder.lock(instance, 0);
  if (lock === null) return null;
  const purged = purgeable(folder, instance, before);
  if (purged !== null && !dryRun) folder.remove(instance);
  return purged;
}

function purgeable(folder: JournalFolder, instance: string, before: number): Purged | null {
  try {
    using journal = folder.open(instance, true);
    const { run, items } = journal;
    const { state, template, endedAt } = run;
    if (endedAt === null || Date.parse(endedAt) >= before || !holdsNothing(run, items)) return null;
    return { instance, template, state, endedAt };
  } catch {
    return null;
  }
}
