import type { RecordState } from "../fold/state.ts";
import type { ContainerInstance, InventoryRecord } from "../record.ts";
import { LIVE } from "./schema.ts";

/** The record's past, apart from what a query shows. */
export type Past = Pick<RecordState, "transitions" | "instances">;
/** All else. */
type Body = Omit<RecordState, "transitions" | "instances">;

export function bodyOf({ transitions: _, instances: __, ...body }: RecordState): Body {
  return body;
}

/** As JSON. A run that the body holds too is only named there, by its place. */
export function pastOf({ transitions, instances, containers }: RecordState): string {
  const runs = instances.map((run) => {
    const index = containers.indexOf(run);
    return index === -1 ? run : index;
  });
  return JSON.stringify({ transitions, instances: runs });
}

/** What was written by this code: its shape is ours. Foreign keys lose their prototype again. */
export function parseBody(text: string): Body {
  const body: Body = JSON.parse(text);
  return {
    ...body,
    used: body.used ?? null,
    labels: bare(body.labels),
    annotations: bare(body.annotations),
    resources: bare(body.resources),
  };
}

export function parsePast(text: string | null, { containers }: Pick<Body, "containers">): Past {
  if (text === null) return { transitions: [], instances: [] };
  const past: Omit<Past, "instances"> & { instances: readonly (ContainerInstance | number)[] } = JSON.parse(text);
  const runs = past.instances.map((run) => (typeof run === "number" ? containers[run] : run));
  return { ...past, instances: runs.filter((run) => run !== undefined) };
}

/** As a reader sees it. */
export function asRecord(
  body: Body,
  cluster: string,
  gaps: readonly number[],
  payload: string | null,
): InventoryRecord {
  const { versionEpoch: _, endVersion: __, ...record } = body;
  return { cluster, ...record, gaps, payload };
}

/** When it existed: from the earlier of its creation (server) and our first sight, until it was surely gone. */
export function lifetime(state: Pick<RecordState, "createdAt" | "firstSeenAt" | "end">): readonly [number, number] {
  const created = state.createdAt === null ? Number.NaN : Date.parse(state.createdAt);
  const plausible = Number.isFinite(created) && created > 0 && created < state.firstSeenAt;
  return [plausible ? created : state.firstSeenAt, state.end === null ? LIVE : state.end.notAfter];
}

function bare<V>(map: Readonly<Record<string, V>>): Readonly<Record<string, V>> {
  return Object.assign(Object.create(null), map);
}
