import type { Cri, CriClient } from "@trawler/kube";
import { TrawlerError } from "@trawler/plugin-api";

interface FakePod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  ready: boolean;
  readonly containers: Map<
    string,
    { readonly id: string; state: string; exitCode: number; readonly image: string; readonly pid: number }
  >;
}

/** A container runtime that holds pods in memory and tells what happens to them. */
export class FakeRuntime {
  readonly #pods = new Map<string, FakePod>();
  readonly #listeners = new Set<(item: Cri.ContainerEvent | Error) => void>();
  #pid = 1000;
  away = false;

  /** Starts a pod with running containers. */
  run(uid: string, name: string, images: Readonly<Record<string, string>>, more: Partial<FakePod> = {}): void {
    const containers: FakePod["containers"] = new Map();
    for (const [container, image] of Object.entries(images)) {
      this.#pid += 1;
      const id = `${uid}${container}`
        .replaceAll(/[^0-9a-f]/g, "0")
        .padEnd(64, "0")
        .slice(-64);
      containers.set(container, { id, state: "CONTAINER_RUNNING", exitCode: 0, image, pid: this.#pid });
    }
    const pod: FakePod = {
      uid,
      name,
      namespace: "shop",
      labels: {},
      annotations: {},
      ready: true,
      ...more,
      containers,
    };
    this.#pods.set(uid, pod);
    for (const { id } of containers.values()) this.#tell(pod, id, "CONTAINER_STARTED_EVENT");
  }

  /** Ends one container, or all and the sandbox. */
  exit(uid: string, exitCode: number, container?: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    for (const [name, state] of pod.containers) {
      if (container !== undefined && name !== container) continue;
      Object.assign(state, { state: "CONTAINER_EXITED", exitCode });
      this.#tell(pod, state.id, "CONTAINER_STOPPED_EVENT");
    }
    if (container !== undefined) return;
    pod.ready = false;
    this.#tell(pod, `sandbox-${uid}`, "CONTAINER_STOPPED_EVENT");
  }

  /** Removes what is left of a pod. */
  remove(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    this.#pods.delete(uid);
    for (const id of [...[...pod.containers.values()].map((container) => container.id), `sandbox-${uid}`]) {
      this.#send({ ...event(id, "CONTAINER_DELETED_EVENT"), podSandboxStatus: null, containersStatuses: [] });
    }
  }

  /** All connections end. */
  restart(): void {
    for (const listener of this.#listeners) listener(new TrawlerError("TRAWLER_UNAVAILABLE", "connection lost"));
    this.#listeners.clear();
  }

  readonly open = async (): Promise<CriClient> => {
    if (this.away) throw new TrawlerError("TRAWLER_UNAVAILABLE", "no container runtime answers");
    const pods = (): FakePod[] => [...this.#pods.values()];
    return {
      socket: "/run/fake.sock",
      version: async () => ({ runtimeName: "containerd", runtimeVersion: "2.4.2", runtimeApiVersion: "v1" }),
      listPodSandboxes: async () => pods().map(sandboxOf),
      listContainers: async () =>
        pods().flatMap((pod) => statusesOf(pod).map((status) => ({ ...status, podSandboxId: `sandbox-${pod.uid}` }))),
      podSandboxStatus: async (id) => {
        const pod = pods().find(({ uid }) => id === `sandbox-${uid}`);
        if (pod === undefined) throw new TrawlerError("TRAWLER_GONE", id);
        return { status: sandboxOf(pod), info: info(900, `/kubepods/pod${pod.uid}/sandbox`) };
      },
      containerStatus: async (id) => {
        for (const pod of pods()) {
          const status = statusesOf(pod).find((one) => one.id === id);
          const container = [...pod.containers.values()].find((one) => one.id === id);
          if (status === undefined || container === undefined) continue;
          const pid = container.state === "CONTAINER_RUNNING" ? container.pid : 0;
          return { status, info: info(pid, `/kubepods/pod${pod.uid}/${id}`) };
        }
        throw new TrawlerError("TRAWLER_GONE", id);
      },
      imageStatus: async () => ({ image: null, info: {} }),
      containerStats: () => Promise.reject(new Error("not faked")),
      listPodSandboxStats: () => Promise.reject(new Error("not faked")),
      events: (signal) => this.#subscribe(signal),
      [Symbol.dispose]() {},
    };
  };

  #tell(pod: FakePod, id: string, type: string): void {
    this.#send({ ...event(id, type), podSandboxStatus: sandboxOf(pod), containersStatuses: statusesOf(pod) });
  }

  #send(item: Cri.ContainerEvent): void {
    for (const listener of this.#listeners) listener(item);
  }

  #subscribe(signal: AbortSignal): AsyncIterable<Cri.ContainerEvent> {
    const waiting: (Cri.ContainerEvent | Error)[] = [];
    let wake = (): void => {};
    this.#listeners.add((item) => {
      waiting.push(item);
      wake();
    });
    signal.addEventListener("abort", () => wake());
    return {
      async *[Symbol.asyncIterator]() {
        while (!signal.aborted) {
          const item = waiting.shift();
          if (item instanceof Error) throw item;
          if (item !== undefined) yield item;
          else {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        }
      },
    };
  }
}

/** Later than any subscription of the test. */
const event = (containerId: string, containerEventType: string) => ({
  containerId,
  containerEventType,
  createdAt: `${Date.now() + 3_600_000}000000`,
});

function sandboxOf(pod: FakePod): Cri.PodSandboxStatus {
  const { uid, name, namespace, labels, annotations, ready } = pod;
  return {
    id: `sandbox-${uid}`,
    metadata: { uid, name, namespace, attempt: 0 },
    state: ready ? "SANDBOX_READY" : "SANDBOX_NOTREADY",
    createdAt: "1796079418928768137",
    labels: { ...labels, ...kubeletLabels(pod) },
    annotations,
    network: { ip: "10.88.0.9", additionalIps: [] },
    linux: { namespaces: { options: { network: "POD" } } },
  };
}

function statusesOf(pod: FakePod): Cri.ContainerStatus[] {
  return [...pod.containers].map(([name, { id, state, exitCode, image }]) => ({
    id,
    metadata: { name, attempt: 0 },
    image: { image, userSpecifiedImage: image },
    imageRef: `sha256:${"d".repeat(64)}`,
    state,
    createdAt: "1796079418928768137",
    startedAt: "1796079418928768137",
    finishedAt: state === "CONTAINER_EXITED" ? "1796079420928768137" : "0",
    exitCode,
    reason: state === "CONTAINER_EXITED" ? (exitCode === 0 ? "Completed" : "Error") : "",
    labels: { ...kubeletLabels(pod), "io.kubernetes.container.name": name },
    annotations: {},
    logPath: "",
  }));
}

function kubeletLabels({ uid, name, namespace }: FakePod): Record<string, string> {
  return { "io.kubernetes.pod.uid": uid, "io.kubernetes.pod.name": name, "io.kubernetes.pod.namespace": namespace };
}

function info(pid: number, cgroupsPath: string): Record<string, string> {
  return { info: JSON.stringify({ pid, runtimeSpec: { linux: { cgroupsPath } } }) };
}
