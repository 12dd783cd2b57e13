/** Owner ids as a member sees them. */
export interface Owners {
  user(id: number): number;
  group(id: number): number;
}

/** Without a user namespace of its own a member sees what we see. */
export const SAME_OWNERS: Owners = { user: (id) => id, group: (id) => id };

/** What the kernel shows for an id that a namespace does not map (`/proc/sys/kernel/overflowuid`, never set otherwise). */
const OVERFLOW = 65_534;
/** user_namespaces(7): at most 340 lines. */
const MAX_RANGES = 340;

interface Range {
  readonly inside: number;
  readonly outside: number;
  readonly length: number;
}

/** From the texts of `/proc/PID/uid_map` and `gid_map`, whose outer ids are those of the reader's namespace. */
export function parseOwners(uidMap: string, gidMap: string): Owners {
  const users = parseRanges(uidMap);
  const groups = parseRanges(gidMap);
  return { user: (id) => inner(users, id), group: (id) => inner(groups, id) };
}

function parseRanges(text: string): readonly Range[] {
  const ranges: Range[] = [];
  for (const line of text.split("\n", MAX_RANGES)) {
    const [inside, outside, length] = line.trim().split(/\s+/).map(Number);
    if (inside === undefined || outside === undefined || length === undefined) continue;
    if (Number.isSafeInteger(inside + outside + length)) ranges.push({ inside, outside, length });
  }
  return ranges;
}

/** A namespace that has no map yet shows nothing of its own: ids stay as they are. */
function inner(ranges: readonly Range[], id: number): number {
  if (ranges.length === 0) return id;
  const range = ranges.find(({ outside, length }) => id >= outside && id < outside + length);
  return range === undefined ? OVERFLOW : id - range.outside + range.inside;
}
