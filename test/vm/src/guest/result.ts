/** What the guest hands out; figures stay the kernel's own texts, which the test parses outside. */
export interface GuestResult {
  readonly driver: string;
  /** `comm` of process 1. */
  readonly init: string;
  readonly kernel: string;
  /** Controllers of the root cgroup. */
  readonly controllers: string;
  /** Pods as the API server lists them. */
  readonly pods: readonly GuestPod[];
  readonly rounds: readonly Round[];
}

/** One crawl between two readings. */
export interface Round {
  readonly before: readonly PodReading[];
  readonly crawl: Crawl;
  readonly after: readonly PodReading[];
}

export interface Crawl {
  readonly code: number | null;
  /** Frames, one a line. */
  readonly stdout: string;
  readonly stderr: string;
}

export interface PodReading {
  readonly uid: string;
  /** The pod's own cgroup. */
  readonly cgroup: CgroupReading;
  /** Cgroups right below it by their folder's name: one per container and the sandbox's. */
  readonly children: Readonly<Record<string, CgroupReading>>;
  /** `/proc/PID/net/dev` of one of its processes. */
  readonly interfaces: string;
}

export interface CgroupReading {
  /** Path in the hierarchy, with a leading slash. */
  readonly path: string;
  /** Content by file name; a file that is absent is left out. */
  readonly files: Readonly<Record<string, string>>;
}

/** The part of a v1 Pod that is used here. */
export interface GuestPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly containers: readonly { readonly name: string }[] };
  readonly status: {
    readonly podIP?: string;
    readonly qosClass?: string;
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly ready: boolean;
      readonly containerID?: string;
    }[];
  };
}
