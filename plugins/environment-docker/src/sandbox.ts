import type { StringMap } from "@trawler/plugin-api";

/**
 * Whether a container only holds a pod's namespaces, by what cri-dockerd and other runtimes write on it. Never by the
 * name of its image, of which no list is ever complete; `images` are those that the operator names.
 */
export function isSandbox(labels: StringMap, image: string, images: readonly string[] = []): boolean {
  if (labels["io.kubernetes.docker.type"] === "podsandbox") return true;
  if (labels["io.kubernetes.container.name"] === "POD") return true;
  if (labels["io.cri-containerd.kind"] === "sandbox") return true;
  if (labels["io.kubernetes.cri.container-type"] === "sandbox") return true;
  if (labels["io.kubernetes.cri-o.ContainerType"] === "sandbox") return true;
  if (labels["io.kubernetes.pod.name"] !== undefined && labels["io.kubernetes.container.name"] === undefined)
    return true;
  return images.includes(image);
}
