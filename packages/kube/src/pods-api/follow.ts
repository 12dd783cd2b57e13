import { errorCode, errorMessage } from "@trawler/plugin-api";
import { sleep as realSleep, type Sleep } from "../api/deadline.ts";
import { type GrpcConnection, openGrpc } from "../grpc/connection.ts";
import { createBackoff } from "../reflector/backoff.ts";
import type { RawObject } from "../reflector/event.ts";
import { apiPodOf } from "./api-pod.ts";
import { PODS_API_PROTO } from "./protocol.ts";

/** Where the kubelet serves its Pods API by default (Kubernetes 1.37). */
export const PODS_API_SOCKET = "/var/lib/kubelet/pods-api/pods-api.sock";

/** A stream that held so many milliseconds was a healthy one. */
const HEALTHY = 10_000;

interface WatchPodsEvent {
  readonly type?: string;
  readonly pod?: object;
}

/** Called in order, synchronously. A pod is the JSON of a v1.Pod with the fields that are used. */
export interface PodsApiHandler {
  pod(pod: RawObject): void;
  gone(uid: string): void;
  synced?(): void;
  /** The socket does not answer; what was reported stays. `TRAWLER_UNAVAILABLE` is also a kubelet that has none. */
  away?(code: string, reason: string): void;
}

export interface PodsApiOptions {
  readonly socket: string;
  readonly handler: PodsApiHandler;
  readonly signal: AbortSignal;
  readonly random?: () => number;
  readonly sleep?: Sleep;
}

/** All pods of the kubelet, static ones under their manifest's hash. One call. */
export async function listKubeletPods(socket: string, signal: AbortSignal): Promise<readonly RawObject[]> {
  using connection = await openPodsApi(socket);
  const { pods } = await connection.call<{ pods?: readonly object[] }>("ListPods", {}, { signal });
  return (pods ?? []).map(apiPodOf);
}

/** Reports the kubelet's pods until the signal aborts; never throws. A pod that a new connection omits has gone. */
export async function followKubeletPods(options: PodsApiOptions): Promise<void> {
  const { handler, signal, sleep = realSleep } = options;
  const backoff = createBackoff(options.random ?? Math.random, 60);
  const known = new Set<string>();
  while (!signal.aborted) {
    let told: number | null = null;
    try {
      using connection = await openPodsApi(options.socket);
      const unseen = new Set(known);
      for await (const event of connection.stream<WatchPodsEvent>("WatchPods", {}, signal)) {
        if (event.type === "INITIAL_SYNC_COMPLETE") {
          for (const uid of unseen) forget(uid);
          told = performance.now();
          handler.synced?.();
          continue;
        }
        const pod = apiPodOf(event.pod ?? {});
        const uid = uidOf(pod);
        if (uid === null) continue;
        unseen.delete(uid);
        if (event.type === "DELETED") forget(uid);
        else {
          known.add(uid);
          handler.pod(pod);
        }
      }
      if (!signal.aborted) handler.away?.("TRAWLER_UNAVAILABLE", `the stream of ${options.socket} ended`);
    } catch (error) {
      if (!signal.aborted) handler.away?.(errorCode(error) ?? "TRAWLER_RETRY", errorMessage(error));
    }
    if (told !== null && performance.now() - told >= HEALTHY) backoff.reset();
    await sleep(backoff.next(), signal);
  }

  function forget(uid: string): void {
    if (known.delete(uid)) handler.gone(uid);
  }
}

function openPodsApi(socket: string): Promise<GrpcConnection> {
  return openGrpc({ socket, proto: PODS_API_PROTO, service: "v1alpha1.Pods", defaults: false });
}

function uidOf(pod: RawObject): string | null {
  const metadata = pod["metadata"];
  const uid = typeof metadata === "object" && metadata !== null ? Reflect.get(metadata, "uid") : null;
  return typeof uid === "string" && uid !== "" ? uid : null;
}
