import { splitApiVersion } from "../cluster/discovery.ts";
import { WAVE_ANNOTATION } from "../cluster/marks.ts";
import { isMap, type JsonMap } from "../json.ts";

/** Of the kinds that bring others about, to those that must not meet half of them. */
const WAVES: readonly (readonly string[])[] = [
  ["Namespace", "Project", "ProjectRequest"],
  ["CustomResourceDefinition"],
  [
    "ServiceAccount",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "Secret",
    "ConfigMap",
    "LimitRange",
    "ResourceQuota",
    "PriorityClass",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "ImageStream",
    "NetworkPolicy",
  ],
  ["Service"],
  // Workloads, and every kind that is not named here.
  [],
  ["Route", "Ingress", "HorizontalPodAutoscaler", "PodDisruptionBudget"],
  ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "APIService"],
];
const WORKLOADS = 4;
const NAMESPACES = 0;
const DEFINITIONS = 1;

/** The wave of an object: by its annotation, else by its kind. Objects of one wave are created together. */
export function waveOf(apiVersion: string, kind: string, body: JsonMap): number {
  const asked =
    isMap(body["metadata"]) && isMap(body["metadata"]["annotations"])
      ? body["metadata"]["annotations"][WAVE_ANNOTATION]
      : undefined;
  if (typeof asked === "string" && /^-?\d{1,4}$/.test(asked)) return Number(asked);
  const wave = WAVES.findIndex((kinds) => kinds.includes(kind));
  // Only the kinds of these groups are what their names say.
  if (wave === NAMESPACES && !["", "project.openshift.io"].includes(splitApiVersion(apiVersion).group))
    return WORKLOADS;
  if (wave === DEFINITIONS && splitApiVersion(apiVersion).group !== "apiextensions.k8s.io") return WORKLOADS;
  return wave < 0 ? WORKLOADS : wave;
}

/** Groups by wave, in order; the template's order inside each. */
export function inWaves<T extends { readonly wave: number; readonly index: number }>(
  items: readonly T[],
): readonly (readonly T[])[] {
  const groups = Map.groupBy(items, ({ wave }) => wave);
  return [...groups.keys()]
    .sort((a, b) => a - b)
    .map((wave) => groups.get(wave)?.toSorted((a, b) => a.index - b.index) ?? []);
}
