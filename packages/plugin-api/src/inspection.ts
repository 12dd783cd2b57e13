import type { StringMap } from "./frame.ts";

/**
 * What a runtime was told to run a container with, beyond what every frame says. Null = the runtime does not say. Secrets
 * in commands are redacted, and the environment is there by its names only.
 */
export interface ContainerInspection {
  readonly source: "docker" | "cri";
  /** RFC 3339, UTC. */
  readonly createdAt: string | null;
  /** Operating system of its image, such as `linux`. */
  readonly platform: string | null;
  /** What keeps its layers, such as `overlay2`. */
  readonly storageDriver: string | null;
  /** What starts it, such as `runc`. */
  readonly runtime: string | null;
  /** Program and arguments as they are run. */
  readonly commandLine: readonly string[] | null;
  /** The part of it that is the entry point; null also where the runtime does not tell the parts apart. */
  readonly entrypoint: readonly string[] | null;
  readonly workingDirectory: string | null;
  /** A name or number, with a group or not; null also where it is left to the image. */
  readonly user: string | null;
  /** Names of its variables, sorted. */
  readonly environment: readonly string[] | null;
  /** `no`, `always`, `unless-stopped`, `on-failure`; null where others than the runtime restart it. */
  readonly restartPolicy: string | null;
  /** Most restarts of `on-failure`; null = no limit. */
  readonly restartLimit: number | null;
  readonly privileged: boolean | null;
  readonly readOnlyRoot: boolean | null;
  readonly noNewPrivileges: boolean | null;
  /** Names without `CAP_`, sorted. */
  readonly capabilitiesAdded: readonly string[] | null;
  readonly capabilitiesDropped: readonly string[] | null;
  /** As they were asked for, such as `seccomp=unconfined`. */
  readonly securityOptions: readonly string[] | null;
  /** Namespaces that are the node's own by request: `network`, `pid`, `ipc`, `uts`, `user`, `cgroup`. */
  readonly hostNamespaces: readonly string[] | null;
  readonly networkMode: string | null;
  /** Names of the networks that it is attached to, sorted. */
  readonly networks: readonly string[] | null;
  /** Linux bridges of those networks, sorted. */
  readonly bridges: readonly string[] | null;
  /** It is attached to the bridge that containers join where nobody says otherwise: `docker0`, or what stands for it. */
  readonly usesDefaultBridge: boolean | null;
  /** Published ports, `0.0.0.0:8080->80/tcp`, and those that are only exposed, `80/tcp`. */
  readonly ports: readonly string[] | null;
  /** Without the kernel's own file systems, which every container has. */
  readonly mounts: readonly InspectedMount[];
  /** Path of its log on the node; null also where it writes no file. */
  readonly logPath: string | null;
  readonly logDriver: string | null;
}

export interface InspectedMount {
  /** `bind`, `volume`, `tmpfs`, …. */
  readonly type: string | null;
  /** Path on the node. */
  readonly source: string | null;
  /** Path in the container. */
  readonly destination: string;
  /** Name of the volume. */
  readonly name: string | null;
  readonly readOnly: boolean | null;
  /** `rprivate`, `rslave`, …. */
  readonly propagation: string | null;
}

/** What a runtime says of an image, as it was when the runtime was asked. Null = it does not say. */
export interface ImageInspection {
  readonly source: "docker" | "cri";
  /** Digest of its configuration, `sha256:…`. */
  readonly id: string | null;
  /** References that name it on this node, in the runtime's order. */
  readonly tags: readonly string[];
  /** RFC 3339, UTC; null also for an image that hides its time to be the same whenever it is built. */
  readonly createdAt: string | null;
  readonly architecture: string | null;
  readonly os: string | null;
  /** Bytes, as the runtime counts them: Docker unpacked, CRI as they were pulled. */
  readonly size: number | null;
  readonly labels: StringMap;
  /** Digests of the layers' content (`diff_ids`), the lowest first. */
  readonly layers: readonly string[];
  /** How it came about, the oldest step first; null where the runtime does not say. Secrets are redacted. */
  readonly steps: readonly ImageStep[] | null;
  /** A step or layer was left out, or a text cut. */
  readonly truncated: boolean;
}

export interface ImageStep {
  /** RFC 3339, UTC. */
  readonly createdAt: string | null;
  readonly command: string | null;
  readonly comment: string | null;
  /** Bytes that the step added. */
  readonly size: number | null;
  /** It made no layer. */
  readonly empty: boolean | null;
  /** Digest of the layer that it made; null where it made none or that is not known. */
  readonly layer: string | null;
}
