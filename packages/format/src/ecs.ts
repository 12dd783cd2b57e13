import { type Feature, type Frame, type FrameContainer, parseImage } from "@trawler/plugin-api";
import { featureValue } from "./document.ts";

/** Version of the Elastic Common Schema that the field names are of. */
export const ECS_VERSION = "8.17.0";

type Fields = Readonly<Record<string, unknown>>;

/**
 * One document for the subject and one for each container, as JSON lines. What ECS has a field for stands there; all
 * features stand whole under `trawler.features`, by type.
 */
export function ecs(frame: Frame): string {
  const documents = [subject(frame), ...frame.containers.map((container) => member(frame, container))];
  return documents.map((document) => `${JSON.stringify(document, exact)}\n`).join("");
}

function subject(frame: Frame): Fields {
  return { ...base(frame, frame.features), ...(frame.kind === "container" ? containerFields(frame.resource) : {}) };
}

function member(frame: Frame, container: FrameContainer): Fields {
  const { id, name, image, digest, features, state } = container;
  const parts = parseImage(image);
  const cpu = figure(features, "cpu", "cpu.usage");
  const limit = figure(features, "cpu", "cpu.limit");
  const memory = figure(features, "memory", "memory.usage");
  const memoryLimit = figure(features, "memory", "memory.limit");
  return {
    ...base(frame, features),
    container: {
      id,
      name,
      runtime: text(frame.resource["container.runtime.name"] ?? frame.resource["container.runtime"]),
      image: {
        name: parts.name,
        tag: parts.tag === null ? [] : [parts.tag],
        hash: { all: digest === null ? [] : [digest] },
      },
      // ECS counts use as a share of what there is.
      cpu: { usage: cpu !== null && limit !== null && limit > 0 ? cpu / limit : null },
      memory: { usage: memory !== null && memoryLimit !== null && memoryLimit > 0 ? memory / memoryLimit : null },
    },
    process: state.exitCode === null ? undefined : { exit_code: state.exitCode },
    trawler: { ...tail(frame, features), container: { type: container.type, state } },
  };
}

function base(frame: Frame, features: readonly Feature[]): Fields {
  const { resource, kind } = frame;
  return {
    "@timestamp": frame.time,
    ecs: { version: ECS_VERSION },
    event: {
      kind: "metric",
      module: "trawler",
      dataset: `trawler.${kind}`,
      id: frame.id,
      sequence: frame.sequence,
      action: frame.reason,
    },
    agent: { type: "trawler", version: frame.agent.version, ephemeral_id: frame.agent.instance },
    host: { name: text(resource["k8s.node.name"] ?? resource["host.name"]) },
    labels: flat(frame.labels),
    ...(kind === "pod"
      ? {
          orchestrator: {
            type: "kubernetes",
            cluster: { name: text(resource["k8s.cluster.name"]) },
            namespace: text(resource["k8s.namespace.name"]),
            resource: {
              type: "pod",
              id: text(resource["k8s.pod.uid"]),
              name: text(resource["k8s.pod.name"]),
              ip: frame.status?.ips ?? [],
            },
          },
        }
      : {}),
    trawler: tail(frame, features),
  };
}

function tail(frame: Frame, features: readonly Feature[]): Fields {
  const byType = new Map<string, Fields[]>();
  for (const feature of features) {
    const known = byType.get(feature.type) ?? [];
    byType.set(feature.type, [...known, { key: feature.key, ...nested(feature) }]);
  }
  return { features: Object.fromEntries(byType), annotations: flat(frame.annotations), final: frame.final };
}

function containerFields(resource: Frame["resource"]): Fields {
  return { container: { id: text(resource["container.id"]), name: text(resource["container.name"]) } };
}

/** ECS labels are flat: a dot would make an object of one and a text of another. */
function flat(map: Readonly<Record<string, string>>): Fields {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [nameOf(key), value]));
}

/**
 * An index takes a dot as a path, and a path cannot be a figure and hold figures too, as `cpu.time` and `cpu.time.user`
 * would: what is under `trawler.features` has underscores instead.
 */
function nested(feature: Feature): Fields {
  return Object.fromEntries(
    Object.entries(featureValue(feature)).map(([name, field]) => [name === "key" ? "key_" : nameOf(name), deep(field)]),
  );
}

function deep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deep);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [nameOf(name), deep(field)]));
}

/** An index refuses a document for a name that is empty. */
function nameOf(name: string): string {
  const text = name.replaceAll(".", "_");
  return text.trim() === "" ? "_" : text;
}

function figure(features: readonly Feature[], type: string, name: string): number | null {
  const feature = features.find((one) => one.type === type);
  const found = feature === undefined ? null : featureValue(feature)[name];
  return typeof found === "number" ? found : null;
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function exact(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
