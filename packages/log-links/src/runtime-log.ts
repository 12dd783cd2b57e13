import { type Container, errorCode, type FileSystemAccess, type Workload } from "@trawler/plugin-api";

export interface RuntimeLog {
  /** Path on the node. */
  readonly path: string;
  readonly type: "docker-json" | "cri";
}

/**
 * The log that the runtime keeps of a container: at the default place, else where the runtime says. Null where it keeps
 * none. Only a regular file counts; of links only the one that a runtime with a log of its own puts at the kubelet's place.
 */
export async function findRuntimeLog(
  node: Pick<FileSystemAccess, "stat">,
  workload: Workload,
  container: Container,
  signal: AbortSignal,
): Promise<RuntimeLog | null> {
  const type = workload.kind === "pod" ? "cri" : "docker-json";
  const told = container.inspection?.logPath ?? null;
  for (const path of [defaultPlace(workload, container), told]) {
    if (path === null || !path.startsWith("/") || path.split("/").includes("..")) continue;
    const found = await regular(node, path, container.id ?? "", signal);
    if (found !== null) return { path: found, type: found === path ? type : "docker-json" };
  }
  return null;
}

function defaultPlace({ kind, resource, handle }: Workload, { id, name, state }: Container): string | null {
  if (kind === "container") return `/var/lib/docker/containers/${id}/${id}-json.log`;
  const [namespace, pod, uid] = [resource["k8s.namespace.name"], resource["k8s.pod.name"], handle.podUid];
  if (typeof namespace !== "string" || typeof pod !== "string" || uid === undefined || state.restarts === null)
    return null;
  return `/var/log/pods/${namespace}_${pod}_${uid}/${name}/${state.restarts}.log`;
}

async function regular(
  node: Pick<FileSystemAccess, "stat">,
  path: string,
  id: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const { type, link } = await node.stat(path, { signal });
    if (type === "file") return path;
    const isOwn = type === "symlink" && link?.startsWith("/") === true && link.endsWith(`/${id}/${id}-json.log`);
    return isOwn && id !== "" && (await node.stat(link, { signal })).type === "file" ? link : null;
  } catch (error) {
    if (["TRAWLER_UNSUPPORTED", "TRAWLER_DENIED", "TRAWLER_REFUSED"].includes(errorCode(error) ?? "")) return null;
    throw error;
  }
}
