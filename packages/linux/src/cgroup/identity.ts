/** What the path of a cgroup says about whose it is. Null = it does not say. */
export interface CgroupIdentity {
  readonly containerId: string | null;
  /** With dashes, as the API writes it; a static pod's is the 32 digits of its manifest's hash. */
  readonly podUid: string | null;
}

const CONTAINER_ID = /^[0-9a-f]{64}$/;
/** `cri-containerd-<id>.scope`, `crio-<id>.scope`, `docker-<id>.scope`, `libpod-<id>.scope`. */
const SCOPE = /^(?:([a-z][a-z0-9-]*)-)?([0-9a-f]{64})(?:\.scope)?$/;
/** A component of a container engine that was set to another driver than the kubelet: `….slice:cri-containerd:<id>`. */
const COLON_FORM = /^([^:]+):[^:]+:([0-9a-f]{64})$/;
/** `pod<uid>` by cgroupfs, `kubepods-burstable-pod<uid with underscores>.slice` by systemd. */
const POD = /^(?:[a-z]+[a-z-]*-)?pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?$/;
/** Helpers beside a container, with its id: no containers. */
const HELPER = /(?:^|-)conmon$/;

/**
 * Container id and pod UID out of a cgroup's path, for the drivers cgroupfs and systemd and the paths of containerd,
 * CRI-O, Docker and Podman. Relative paths of a private cgroup namespace (`/../../pod…`) are as good: only the names
 * count. Of nested containers the innermost one; a helper such as conmon is none.
 */
export function parseCgroupIdentity(path: string): CgroupIdentity {
  let containerId: string | null = null;
  let podUid: string | null = null;
  for (const part of path.split("/")) {
    const colon = COLON_FORM.exec(part);
    const pod = POD.exec(colon?.[1] ?? part)?.[1];
    if (pod !== undefined) {
      podUid = pod.replaceAll("_", "-");
      // A pod inside a container (a nested kubelet): that container is not the pod's.
      containerId = null;
    }
    if (colon !== null) {
      containerId = colon[2] ?? null;
      continue;
    }
    const scope = SCOPE.exec(part);
    if (scope === null) continue;
    const [, engine, id] = scope;
    if (engine !== undefined && HELPER.test(engine)) containerId = null;
    else containerId = id ?? null;
  }
  return { containerId, podUid };
}

/** Whether one name in a path is that of the container with this id. */
export function isContainerFolder(name: string, containerId: string): boolean {
  return CONTAINER_ID.test(containerId) && parseCgroupIdentity(name).containerId === containerId;
}

/** Whether one name in a path is that of the pod with this UID (or manifest hash). */
export function isPodFolder(name: string, podUid: string): boolean {
  return parseCgroupIdentity(name).podUid === podUid;
}
