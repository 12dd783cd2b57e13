/** What the name of one cgroup folder says. */
export type CgroupName =
  | { readonly kind: "pod"; readonly podUid: string }
  | { readonly kind: "container"; readonly containerId: string }
  /** A level above pods: QoS class, kubelet, a node in a container. */
  | { readonly kind: "above" }
  | null;

const POD = /^(?:[\w-]*-)?pod([0-9a-f]{8}[_-](?:[0-9a-f]{4}[_-]){3}[0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?$/;
const CONTAINER = /^(?:(?:cri-containerd|crio|docker|libpod)-)?([0-9a-f]{64})(?:\.scope)?$/;
const ABOVE =
  /^(?:system|kubelet|docker|burstable|besteffort|(?:[\w-]+-)?kubepods(?:-burstable|-besteffort)?)(?:\.slice)?$/;

/**
 * Reads a folder's name as cgroupfs or systemd driver, containerd, CRI-O, cri-dockerd or a nested kubelet write it. Null
 * for all else, such as CRI-O's `crio-conmon-…`. A static pod's UID is its manifest's hash, without dashes.
 */
export function parseCgroupName(name: string): CgroupName {
  const podUid = POD.exec(name)?.[1];
  if (podUid !== undefined) return { kind: "pod", podUid: podUid.replaceAll("_", "-") };
  const containerId = CONTAINER.exec(name)?.[1];
  if (containerId !== undefined) return { kind: "container", containerId };
  return ABOVE.test(name) ? { kind: "above" } : null;
}
