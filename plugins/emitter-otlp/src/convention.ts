/** How a figure of a feature stands as a metric. */
export interface Convention {
  readonly name: string;
  readonly unit: string;
  /** A count that only grows while its source lives, else a gauge. */
  readonly monotonic: boolean;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** A metric at the level of its frame: `k8s.pod.…`, `container.…`, `system.…`. */
export type Level = "k8s.pod" | "container" | "system";

type Row = readonly [
  field: string,
  name: string,
  unit: string,
  kind: "sum" | "gauge",
  attributes?: Readonly<Record<string, string>>,
];

const receive = { "network.io.direction": "receive" };
const transmit = { "network.io.direction": "transmit" };
const read = { "disk.io.direction": "read" };
const write = { "disk.io.direction": "write" };

/** Fields of the figures of a level, by the semantic conventions where they know them; the level stands before the name. */
const KNOWN: readonly Row[] = [
  ["cpu.time", "cpu.time", "s", "sum"],
  ["cpu.time.user", "cpu.time.user", "s", "sum"],
  ["cpu.time.system", "cpu.time.system", "s", "sum"],
  ["cpu.throttling.periods", "cpu.throttling.periods", "{period}", "sum"],
  ["cpu.throttling.throttled_periods", "cpu.throttling.throttled_periods", "{period}", "sum"],
  ["cpu.throttling.time", "cpu.throttling.time", "s", "sum"],
  ["cpu.usage", "cpu.usage", "{cpu}", "gauge"],
  ["cpu.limit", "cpu.limit", "{cpu}", "gauge"],
  ["memory.usage", "memory.usage", "By", "gauge"],
  ["memory.working_set", "memory.working_set", "By", "gauge"],
  ["memory.rss", "memory.rss", "By", "gauge"],
  ["memory.available", "memory.available", "By", "gauge"],
  ["memory.limit", "memory.limit", "By", "gauge"],
  ["memory.effective_limit", "memory.effective_limit", "By", "gauge"],
  ["memory.cache", "memory.cache", "By", "gauge"],
  ["memory.shared", "memory.shared", "By", "gauge"],
  ["memory.swap", "memory.swap", "By", "gauge"],
  ["memory.peak", "memory.peak", "By", "gauge"],
  ["memory.oom", "memory.oom", "{event}", "sum"],
  ["memory.oom_kills", "memory.oom_kills", "{event}", "sum"],
  ["paging.faults.minor", "memory.paging.faults", "{fault}", "sum", { "system.paging.fault.type": "minor" }],
  ["paging.faults.major", "memory.paging.faults", "{fault}", "sum", { "system.paging.fault.type": "major" }],
  ["network.io.receive", "network.io", "By", "sum", receive],
  ["network.io.transmit", "network.io", "By", "sum", transmit],
  ["network.packets.receive", "network.packets", "{packet}", "sum", receive],
  ["network.packets.transmit", "network.packets", "{packet}", "sum", transmit],
  ["network.errors.receive", "network.errors", "{error}", "sum", receive],
  ["network.errors.transmit", "network.errors", "{error}", "sum", transmit],
  ["network.dropped.receive", "network.dropped", "{packet}", "sum", receive],
  ["network.dropped.transmit", "network.dropped", "{packet}", "sum", transmit],
  ["disk.io.read", "disk.io", "By", "sum", read],
  ["disk.io.write", "disk.io", "By", "sum", write],
  ["disk.operations.read", "disk.operations", "{operation}", "sum", read],
  ["disk.operations.write", "disk.operations", "{operation}", "sum", write],
];

const BY_FIELD: ReadonlyMap<string, Row> = new Map(KNOWN.map((row) => [row[0], row]));

/** Features of a cgroup, a network namespace or its devices: their metrics belong to the level. */
const OF_LEVEL: ReadonlySet<string> = new Set(["cpu", "memory", "network", "blockio"]);

/** The metric of one field. What the conventions do not know stands under its own name, as a gauge without a unit. */
export function conventionOf(type: string, field: string, level: Level): Convention {
  const row = OF_LEVEL.has(type) ? BY_FIELD.get(field) : undefined;
  if (row === undefined) return { name: ownName(type, field, level), unit: "", monotonic: false };
  const [, name, unit, kind, attributes] = row;
  return { name: `${level}.${name}`, unit, monotonic: kind === "sum", ...(attributes && { attributes }) };
}

/** A field that says itself what it is about keeps its name; another gets its feature's before it. */
function ownName(type: string, field: string, level: Level): string {
  if (OF_LEVEL.has(type)) return `${level}.${field}`;
  return field === type || field.startsWith(`${type}.`) ? field : `${type}.${field}`;
}
