import { emptyMap, isMap, type JsonMap } from "../json.ts";
import { FaultList } from "./faults.ts";
import { processObjects } from "./objects.ts";
import { merged, withMetadata } from "./prepare.ts";
import { MASK } from "./redact.ts";
import { Substitution } from "./substitute.ts";
import type { ProcessedObject, ProcessedTemplate } from "./types.ts";

/**
 * The same template for showing: secret parameters and everything in the data of Secrets are masked, however short
 * they are, and whatever they were mixed with.
 */
export function maskTemplate(processed: ProcessedTemplate): ProcessedTemplate {
  const { template, mode, parameters } = processed;
  const quiet = new FaultList((severity, code, _, message) => ({
    severity,
    code,
    message,
    file: null,
    line: null,
    column: null,
    path: "",
  }));
  const shown = parameters.map((parameter) =>
    parameter.secret && parameter.value !== "" ? { ...parameter, value: MASK } : parameter,
  );
  const substitution = new Substitution(mode, new Map(shown.map(({ name, value }) => [name, value])), quiet);
  const labels: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(template.labels)) labels[substitution.text(key)] = substitution.text(value);
  const objects = processObjects(template.objects, substitution, { mode, labels, namespace: null }, quiet);
  const hidden = new Set(parameters.filter(({ secret }) => secret).map(({ name }) => name));
  const declared = template.parameters.map((parameter) =>
    hidden.has(parameter.name) && parameter.value !== null ? { ...parameter, value: MASK } : parameter,
  );
  return {
    ...processed,
    // The objects as they are written may hold secrets of their own.
    template: { ...template, parameters: declared, objects: [] },
    labels,
    parameters: shown,
    message: template.message === null ? null : substitution.text(template.message),
    objects: processed.objects.map((object) => {
      const masked = objects[object.index]?.body ?? emptyMap();
      return { ...object, body: maskSecret({ ...object, body: masked }) };
    }),
  };
}

/** What is sent, with the target namespace in it. */
export function placed({ body, namespace }: ProcessedObject): JsonMap {
  if (namespace === null) return body;
  const metadata = isMap(body["metadata"]) ? body["metadata"] : emptyMap();
  return withMetadata(body, merged(metadata, { namespace }));
}

function maskSecret({ kind, body }: ProcessedObject): JsonMap {
  if (kind !== "Secret") return body;
  const hidden = emptyMap();
  for (const key of ["data", "stringData"]) {
    const data = body[key];
    if (!isMap(data)) continue;
    const masked = emptyMap();
    for (const name of Object.keys(data)) masked[name] = MASK;
    hidden[key] = masked;
  }
  return merged(body, hidden);
}
