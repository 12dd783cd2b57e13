import type { Template } from "../template/types.ts";
import type { Use } from "../template/uses.ts";

/** What a place in an object takes, told from where it is. */
export type Place = "replicas" | "port" | "node port" | "quantity" | "name" | "namespace" | "file" | "other";

const PORTS = new Set(["port", "containerPort", "targetPort"]);

/** The place of a use; `other` for keys, the message and labels. */
export function placeOf(template: Template, { path, key }: Use): Place {
  const [first, index] = path;
  if (key || first !== "objects" || typeof index !== "number") return "other";
  const inside = path.slice(2);
  const last = inside.at(-1);
  if (inside.at(-2) === "metadata" && last === "namespace") return "namespace";
  if (inside.length === 2 && inside[0] === "metadata" && last === "name") return "name";
  if (inside.at(-2) === "spec" && last === "replicas") return "replicas";
  if (last === "nodePort") return "node port";
  if (typeof last === "string" && PORTS.has(last)) return "port";
  if (last === "storage" || last === "sizeLimit") return "quantity";
  if (inside.at(-2) === "hard") return "quantity";
  if (inside.at(-3) === "resources" && (inside.at(-2) === "limits" || inside.at(-2) === "requests")) return "quantity";
  if (inside.length === 2 && inside[0] === "data" && template.objects[index]?.["kind"] === "ConfigMap") return "file";
  return "other";
}

/** Longest name of a kind. Sources: API conventions (253), DNS labels and what controllers append (63, 52). */
export function longestName(kind: unknown): number {
  if (kind === "CronJob") return 52;
  return kind === "Service" || kind === "Namespace" || kind === "Job" || kind === "StatefulSet" ? 63 : 253;
}
