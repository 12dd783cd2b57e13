import type { MemoryFigures } from "@trawler/plugin-api";
import { parseCounts } from "../proc/key-value.ts";
import { difference } from "../proc/number.ts";
import { parseLimit, parseValue, smallest } from "./values.ts";

type Text = string | null;

/** v2: `memory.*`. `ancestorLimits`: `memory.max` of the cgroups above. */
export function parseMemoryV2(files: {
  readonly current: Text;
  readonly stat: Text;
  readonly swap: Text;
  readonly peak: Text;
  readonly max: Text;
  readonly events: Text;
  readonly ancestorLimits: readonly Text[];
}): MemoryFigures {
  const stat = parseCounts(files.stat ?? "");
  const events = parseCounts(files.events ?? "");
  const of = (name: string): number | null => stat.get(name) ?? null;
  const usage = parseValue(files.current);
  const limit = parseLimit(files.max);
  return {
    usage,
    workingSet: difference(usage, of("inactive_file")),
    rss: of("anon"),
    cache: of("file"),
    shared: of("shmem"),
    swap: parseValue(files.swap),
    peak: parseValue(files.peak),
    limit,
    effectiveLimit: smallest([limit, ...files.ancestorLimits.map(parseLimit)]),
    minorFaults: difference(of("pgfault"), of("pgmajfault")),
    majorFaults: of("pgmajfault"),
    outOfMemory: events.get("oom") ?? null,
    outOfMemoryKills: events.get("oom_kill") ?? null,
  };
}

/** v1: the `total_` fields of `memory.stat` hold the children too. It counts no out-of-memory events, only kills. */
export function parseMemoryV1(files: {
  readonly usage: Text;
  readonly stat: Text;
  readonly peak: Text;
  readonly limit: Text;
  readonly outOfMemory: Text;
  readonly ancestorLimits: readonly Text[];
}): MemoryFigures {
  const stat = parseCounts(files.stat ?? "");
  const of = (name: string): number | null => stat.get(`total_${name}`) ?? null;
  const usage = parseValue(files.usage);
  const limit = parseLimit(files.limit);
  return {
    usage,
    workingSet: difference(usage, of("inactive_file")),
    rss: of("rss"),
    cache: of("cache"),
    shared: of("shmem"),
    swap: of("swap"),
    peak: parseValue(files.peak),
    limit,
    effectiveLimit: smallest([limit, ...files.ancestorLimits.map(parseLimit)]),
    minorFaults: difference(of("pgfault"), of("pgmajfault")),
    majorFaults: of("pgmajfault"),
    outOfMemory: null,
    outOfMemoryKills: parseCounts(files.outOfMemory ?? "").get("oom_kill") ?? null,
  };
}
