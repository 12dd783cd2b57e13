/** One kind that is followed: one list-and-watch with a position of its own. */
export interface KindSpec {
  /** Name of the stream, such as `pods`; for kinds of a group `deployments.apps`. */
  readonly stream: string;
  /** Such as `Pod`. */
  readonly kind: string;
  /** Path of the collection over all namespaces, such as `/api/v1/pods`. */
  readonly path: string;
  /** Not ready before it is synced. */
  readonly required: boolean;
}

/** How a kind is named in a configuration. */
export interface KindName {
  /** `v1`, or group and version such as `apps/v1`. */
  readonly apiVersion: string;
  /** The plural in paths, such as `statefulsets`. */
  readonly resource: string;
  readonly kind: string;
  readonly required?: boolean | undefined;
}

export function kindSpec({ apiVersion, resource, kind, required = true }: KindName): KindSpec {
  const [group = "", version] = apiVersion.split("/");
  return version === undefined
    ? { stream: resource, kind, path: `/api/${group}/${resource}`, required }
    : { stream: `${resource}.${group}`, kind, path: `/apis/${group}/${version}/${resource}`, required };
}

/** Pods first; then what owner chains and the end of a node need. */
export const BUILT_IN_KINDS: readonly KindSpec[] = [
  { apiVersion: "v1", resource: "pods", kind: "Pod" },
  { apiVersion: "v1", resource: "nodes", kind: "Node" },
  { apiVersion: "v1", resource: "namespaces", kind: "Namespace" },
  { apiVersion: "apps/v1", resource: "replicasets", kind: "ReplicaSet" },
  { apiVersion: "apps/v1", resource: "deployments", kind: "Deployment" },
  { apiVersion: "batch/v1", resource: "jobs", kind: "Job" },
].map(kindSpec);

/** DNS subdomain: anything else would be another path. */
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Path of the collection in one namespace, or over all; null where the names cannot be names. */
export function collectionPath(spec: KindSpec, namespace: string | null, name: string): string | null {
  if (!NAME.test(name) || (namespace !== null && !NAME.test(namespace))) return null;
  if (namespace === null) return spec.path;
  const at = spec.path.lastIndexOf("/");
  return `${spec.path.slice(0, at)}/namespaces/${namespace}${spec.path.slice(at)}`;
}
