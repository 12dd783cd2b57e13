/** Messages of `runtime.v1` as the connection gives them: int64 as decimal text, enums by name, absent messages null. */

/** Nanoseconds since the epoch, or a count, in decimal. */
export type Int64 = string;

export type Strings = Readonly<Record<string, string>>;

export interface Version {
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  readonly runtimeApiVersion: string;
}

export interface PodSandboxMetadata {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  readonly attempt: number;
}

export interface PodSandbox {
  readonly id: string;
  readonly metadata: PodSandboxMetadata | null;
  readonly state: string;
  readonly createdAt: Int64;
  readonly labels: Strings;
  readonly annotations: Strings;
}

export interface PodSandboxStatus extends PodSandbox {
  readonly network: { readonly ip: string; readonly additionalIps: readonly { readonly ip: string }[] } | null;
  readonly linux: { readonly namespaces: { readonly options: { readonly network: string } | null } | null } | null;
}

export interface PodSandboxStatusResponse {
  readonly status: PodSandboxStatus | null;
  readonly info: Strings;
}

export interface ImageSpec {
  readonly image: string;
  readonly userSpecifiedImage: string;
}

export interface Container {
  readonly id: string;
  readonly podSandboxId: string;
  readonly metadata: { readonly name: string; readonly attempt: number } | null;
  readonly image: ImageSpec | null;
  readonly imageRef: string;
  readonly state: string;
  readonly createdAt: Int64;
  readonly labels: Strings;
  readonly annotations: Strings;
}

export interface ContainerStatus extends Omit<Container, "podSandboxId"> {
  readonly startedAt: Int64;
  readonly finishedAt: Int64;
  readonly exitCode: number;
  readonly reason: string;
  /** Path of its log on the node. */
  readonly logPath: string;
}

export interface ContainerStatusResponse {
  readonly status: ContainerStatus | null;
  readonly info: Strings;
}

export interface ImageStatusResponse {
  readonly image: { readonly id: string; readonly repoTags: readonly string[]; readonly size: Int64 } | null;
  readonly info: Strings;
}

export interface ContainerEvent {
  /** The container's id, or the sandbox's own. */
  readonly containerId: string;
  readonly containerEventType: string;
  readonly createdAt: Int64;
  readonly podSandboxStatus: PodSandboxStatus | null;
  readonly containersStatuses: readonly ContainerStatus[];
}

export interface UInt64Value {
  readonly value: Int64;
}

export interface ContainerStats {
  readonly attributes: { readonly id: string } | null;
  readonly cpu: { readonly timestamp: Int64; readonly usageCoreNanoSeconds: UInt64Value | null } | null;
  readonly memory: {
    readonly timestamp: Int64;
    readonly workingSetBytes: UInt64Value | null;
    readonly usageBytes: UInt64Value | null;
    readonly rssBytes: UInt64Value | null;
  } | null;
  readonly writableLayer: { readonly timestamp: Int64; readonly usedBytes: UInt64Value | null } | null;
}

export interface NetworkInterfaceUsage {
  readonly name: string;
  readonly rxBytes: UInt64Value | null;
  readonly rxErrors: UInt64Value | null;
  readonly txBytes: UInt64Value | null;
  readonly txErrors: UInt64Value | null;
}

export interface PodSandboxStats {
  readonly attributes: { readonly id: string; readonly metadata: PodSandboxMetadata | null } | null;
  readonly linux: {
    readonly cpu: ContainerStats["cpu"];
    readonly memory: ContainerStats["memory"];
    readonly network: {
      readonly timestamp: Int64;
      readonly defaultInterface: NetworkInterfaceUsage | null;
      readonly interfaces: readonly NetworkInterfaceUsage[];
    } | null;
    readonly containers: readonly ContainerStats[];
  } | null;
}
