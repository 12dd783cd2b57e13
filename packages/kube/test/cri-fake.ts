import { readFileSync } from "node:fs";
import { type Clock, type Logger, TrawlerError } from "@trawler/plugin-api";
import type { CriClient } from "../src/cri/client.ts";
import type {
  Container,
  ContainerEvent,
  ContainerStatusResponse,
  ImageStatusResponse,
  PodSandbox,
  PodSandboxStatusResponse,
  Version,
} from "../src/cri/messages.ts";

/** What a runtime said, as it was captured or composed. */
export interface Capture {
  readonly version: Version;
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
  readonly sandboxStatuses: readonly PodSandboxStatusResponse[];
  readonly containerStatuses: readonly ContainerStatusResponse[];
  readonly events: readonly ContainerEvent[];
}

export function capture(name: "containerd" | "crio" | "dockerd"): Capture {
  return JSON.parse(readFileSync(new URL(`fixtures/cri-${name}.json`, import.meta.url), "utf8"));
}

export const quiet: Logger = { debug() {}, info() {}, warn() {}, error() {} };

export const realClock: Clock = { now: Date.now, monotonic: () => performance.now() / 1000 };

/** A runtime in memory: what it has can be changed, events can be sent, connections can be cut. */
export class FakeRuntime {
  sandboxes: PodSandbox[] = [];
  containers: Container[] = [];
  readonly sandboxStatuses = new Map<string, PodSandboxStatusResponse>();
  readonly containerStatuses = new Map<string, ContainerStatusResponse>();
  readonly imageStatuses = new Map<string, ImageStatusResponse>();
  readonly calls: string[] = [];
  version: Version;
  /** `broken`: the stream fails as soon as it is read. */
  events: "stream" | "unsupported" | "broken" = "stream";
  /** Called before each answer; may throw or wait. */
  before: (call: string) => Promise<void> | void = () => {};
  #streams = new Set<(end: Error | ContainerEvent) => void>();

  constructor(from: Capture) {
    this.version = from.version;
    this.sandboxes = [...from.sandboxes];
    this.containers = [...from.containers];
    for (const response of from.sandboxStatuses) this.sandboxStatuses.set(response.status?.id ?? "", response);
    for (const response of from.containerStatuses) this.containerStatuses.set(response.status?.id ?? "", response);
  }

  send(event: ContainerEvent): void {
    for (const stream of this.#streams) stream(event);
  }

  /** The runtime is restarted: all streams end. */
  cut(): void {
    for (const stream of this.#streams) stream(new TrawlerError("TRAWLER_UNAVAILABLE", "connection lost"));
    this.#streams.clear();
  }

  open(): CriClient {
    const answer = async <T>(call: string, value: () => T): Promise<T> => {
      this.calls.push(call);
      await this.before(call);
      return value();
    };
    const known = <T>(map: Map<string, T>, id: string): T => {
      const value = map.get(id);
      if (value === undefined) throw new TrawlerError("TRAWLER_GONE", `no ${id}`);
      return value;
    };
    return {
      socket: "/run/fake.sock",
      version: () => answer("Version", () => this.version),
      listPodSandboxes: () => answer("ListPodSandbox", () => [...this.sandboxes]),
      listContainers: () => answer("ListContainers", () => [...this.containers]),
      podSandboxStatus: (id) => answer(`PodSandboxStatus ${id}`, () => known(this.sandboxStatuses, id)),
      containerStatus: (id) => answer(`ContainerStatus ${id}`, () => known(this.containerStatuses, id)),
      imageStatus: (image) =>
        answer(`ImageStatus ${image}`, () => this.imageStatuses.get(image) ?? { image: null, info: {} }),
      containerStats: () => Promise.reject(new Error("not faked")),
      listPodSandboxStats: () => Promise.reject(new Error("not faked")),
      events: (signal) => this.#subscribe(signal),
      [Symbol.dispose]: () => {},
    };
  }

  #subscribe(signal: AbortSignal): AsyncIterable<ContainerEvent> {
    this.calls.push("GetContainerEvents");
    const waiting: (ContainerEvent | Error)[] = [];
    let wake = (): void => {};
    if (this.events === "unsupported") waiting.push(new TrawlerError("TRAWLER_UNSUPPORTED", "unknown method"));
    if (this.events === "broken") waiting.push(new TrawlerError("TRAWLER_UNAVAILABLE", "no stream"));
    const stream = (item: ContainerEvent | Error): void => {
      waiting.push(item);
      wake();
    };
    this.#streams.add(stream);
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
