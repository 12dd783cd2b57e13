import { type CallOptions, type GrpcConnection, openGrpc } from "../grpc/connection.ts";
import type {
  Container,
  ContainerEvent,
  ContainerStats,
  ContainerStatusResponse,
  ImageStatusResponse,
  PodSandbox,
  PodSandboxStats,
  PodSandboxStatusResponse,
  Version,
} from "./messages.ts";
import { CRI_PROTO } from "./protocol.ts";

/** Read-only client of a container runtime's CRI socket. Errors carry TRAWLER_ codes; an absent id is TRAWLER_GONE. */
export interface CriClient extends Disposable {
  readonly socket: string;
  version(options?: CallOptions): Promise<Version>;
  listPodSandboxes(options?: CallOptions & { readonly id?: string }): Promise<readonly PodSandbox[]>;
  /** Never holds a sandbox. */
  listContainers(options?: CallOptions & { readonly podSandboxId?: string }): Promise<readonly Container[]>;
  containerStatus(id: string, options?: CallOptions & { readonly verbose?: boolean }): Promise<ContainerStatusResponse>;
  podSandboxStatus(
    id: string,
    options?: CallOptions & { readonly verbose?: boolean },
  ): Promise<PodSandboxStatusResponse>;
  /** By any reference or id; its image is null where the runtime does not have it. */
  imageStatus(reference: string, options?: CallOptions & { readonly verbose?: boolean }): Promise<ImageStatusResponse>;
  containerStats(id: string, options?: CallOptions): Promise<ContainerStats>;
  listPodSandboxStats(options?: CallOptions): Promise<readonly PodSandboxStats[]>;
  /** Subscribes at once; throws TRAWLER_UNSUPPORTED while iterated where the runtime is too old. */
  events(signal: AbortSignal): AsyncIterable<ContainerEvent>;
}

/** Opens a client for the socket at an absolute path; nothing is sent before the first call. */
export async function openCri(socket: string): Promise<CriClient> {
  const open = (service: string): Promise<GrpcConnection> =>
    openGrpc({ socket, proto: CRI_PROTO, service: `runtime.v1.${service}`, defaults: true });
  const [runtime, images] = await Promise.all([open("RuntimeService"), open("ImageService")]);
  return criClient(socket, runtime, images);
}

function criClient(socket: string, connection: GrpcConnection, images: GrpcConnection): CriClient {
  return {
    socket,
    version: (options) => connection.call("Version", { version: "v1" }, options),
    async listPodSandboxes(options) {
      const filter = options?.id === undefined ? {} : { filter: { id: options.id } };
      return (await connection.call<{ items: PodSandbox[] }>("ListPodSandbox", filter, options)).items;
    },
    async listContainers(options) {
      const id = options?.podSandboxId;
      const filter = id === undefined ? {} : { filter: { podSandboxId: id } };
      return (await connection.call<{ containers: Container[] }>("ListContainers", filter, options)).containers;
    },
    containerStatus: (id, options) =>
      connection.call("ContainerStatus", { containerId: id, verbose: options?.verbose ?? false }, options),
    podSandboxStatus: (id, options) =>
      connection.call("PodSandboxStatus", { podSandboxId: id, verbose: options?.verbose ?? false }, options),
    imageStatus: (image, options) =>
      images.call("ImageStatus", { image: { image }, verbose: options?.verbose ?? false }, options),
    async containerStats(id, options) {
      return (await connection.call<{ stats: ContainerStats }>("ContainerStats", { containerId: id }, options)).stats;
    },
    async listPodSandboxStats(options) {
      return (await connection.call<{ stats: PodSandboxStats[] }>("ListPodSandboxStats", {}, options)).stats;
    },
    events: (signal) => connection.stream("GetContainerEvents", {}, signal),
    [Symbol.dispose]() {
      connection[Symbol.dispose]();
      images[Symbol.dispose]();
    },
  };
}
