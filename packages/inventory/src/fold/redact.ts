import { createHash } from "node:crypto";
import { isRecord } from "@trawler/kube";

type Raw = Readonly<Record<string, unknown>>;

/** Bytes of one annotation's value that are kept. */
const ANNOTATION = 4 * 1024;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const CONTAINERS = ["initContainers", "containers", "ephemeralContainers"] as const;

/**
 * What is kept of an object: without managed fields and the last applied configuration, without literal values of
 * environment variables (they may be secrets), without the data of Secrets and ConfigMaps. The original is not changed.
 */
export function redactObject(kind: string, object: Raw): Raw {
  const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
  const { managedFields: _, ...kept } = metadata;
  const annotations = isRecord(kept["annotations"]) ? { annotations: capAnnotations(kept["annotations"]) } : {};
  // Items of a list do not say what they are.
  const copy: Record<string, unknown> = { kind, ...object, metadata: { ...kept, ...annotations } };
  if (kind === "Secret" || kind === "ConfigMap") {
    for (const key of ["data", "stringData", "binaryData"]) {
      if (isRecord(copy[key])) copy[key] = Object.keys(copy[key]);
    }
  }
  const { spec } = object;
  if (!isRecord(spec)) return copy;
  const template = isRecord(spec["template"]) ? spec["template"] : null;
  copy["spec"] = {
    ...withoutValues(spec),
    ...(template !== null && isRecord(template["spec"])
      ? { template: { ...template, spec: withoutValues(template["spec"]) } }
      : {}),
  };
  return copy;
}

function withoutValues(spec: Raw): Raw {
  const changed: Record<string, unknown> = { ...spec };
  for (const key of CONTAINERS) {
    const containers = spec[key];
    if (!Array.isArray(containers)) continue;
    changed[key] = containers.map((container: unknown) =>
      isRecord(container) && Array.isArray(container["env"])
        ? { ...container, env: container["env"].map(withoutValue) }
        : container,
    );
  }
  return changed;
}

function withoutValue(variable: unknown): unknown {
  if (!isRecord(variable)) return variable;
  const { value: _, ...kept } = variable;
  return kept;
}

function capAnnotations(source: Raw): Raw {
  const kept: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(source)) {
    if (key === LAST_APPLIED || typeof value !== "string") continue;
    if (value.length <= ANNOTATION) kept[key] = value;
    else {
      const digest = createHash("sha256").update(value).digest("hex");
      kept[key] = `${value.slice(0, ANNOTATION)}…[truncated, sha256:${digest}]`;
    }
  }
  return kept;
}
