import type { Feature, FeatureValue, Frame } from "@trawler/plugin-api";
import { type Convention, conventionOf, type Level } from "./convention.ts";
import { partsOf } from "./resource.ts";
import { type Attribute, attributesOf, nanoseconds } from "./value.ts";

interface Point {
  readonly attributes: readonly Attribute[];
  readonly timeUnixNano: string;
  readonly asInt?: string;
  readonly asDouble?: number;
}

/** AGGREGATION_TEMPORALITY_CUMULATIVE */
const CUMULATIVE = 2;

/** `resourceMetrics` of one frame: one for itself, one for each container; a resource without figures is left out. */
export function resourceMetrics(frame: Frame): readonly object[] {
  const scope = { name: "trawler", version: frame.agent.version };
  return partsOf(frame).flatMap(({ resource, features, container }) => {
    const metrics = metricsOf(features, levelOf(frame, container !== null), frame.time);
    return metrics.length === 0 ? [] : [{ resource, scopeMetrics: [{ scope, metrics }] }];
  });
}

function metricsOf(features: Frame["features"], level: Level, frameTime: string): readonly object[] {
  const metrics = new Map<string, { readonly convention: Convention; readonly points: Point[] }>();
  for (const feature of features) {
    const value = feature.value as FeatureValue;
    const shared = instanceAttributes(feature, value);
    const timeUnixNano = nanoseconds(feature.observedAt ?? frameTime);
    for (const [field, figure] of Object.entries(value)) {
      if (typeof figure !== "number" || !Number.isFinite(figure) || IDENTITY.has(field)) continue;
      const convention = conventionOf(feature.type, field, level);
      const metric = metrics.get(convention.name) ?? { convention, points: [] };
      metrics.set(convention.name, metric);
      metric.points.push({
        attributes: [...shared, ...attributesOf(convention.attributes ?? {})],
        timeUnixNano,
        ...(Number.isSafeInteger(figure) ? { asInt: String(figure) } : { asDouble: figure }),
      });
    }
  }
  return Array.from(metrics.values(), ({ convention: { name, unit, monotonic }, points }) => ({
    name,
    unit,
    ...(monotonic
      ? { sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints: points } }
      : { gauge: { dataPoints: points } }),
  }));
}

/** Numbers that tell instances apart and are no figures. */
const IDENTITY: ReadonlySet<string> = new Set([
  "pid",
  "parent_pid",
  "vpid",
  "user.id",
  "cpu.logical_number",
  "server.port",
  "network.local.port",
  "network.peer.port",
]);

/** What tells this feature from others of its type. */
function instanceAttributes({ type, key }: Feature, value: FeatureValue): readonly Attribute[] {
  const known = Object.fromEntries(Object.entries(value).filter(([field]) => IDENTITY.has(field)));
  if (type === "network") return attributesOf({ "network.interface.name": key });
  if (type === "blockio" || type === "diskio") return attributesOf({ "system.device": key });
  if (type === "process") return attributesOf({ "process.pid": value["pid"], "process.command": value["command"] });
  return attributesOf({ ...known, ...(key === type ? {} : { "trawler.feature.key": key }) });
}

function levelOf({ kind }: Frame, container: boolean): Level {
  if (container || kind === "container") return "container";
  return kind === "pod" ? "k8s.pod" : "system";
}
