import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseProto } from "../src/grpc/proto.ts";
import { apiPodOf } from "../src/pods-api/api-pod.ts";
import { followKubeletPods, listKubeletPods } from "../src/pods-api/follow.ts";
import { PODS_API_PROTO } from "../src/pods-api/protocol.ts";

const time = (seconds: number): object => ({ seconds, nanos: 0 });
const pod = (uid: string, name = "cart-0"): object => ({
  metadata: {
    name,
    namespace: "shop",
    uid,
    resourceVersion: "332",
    generation: 3,
    creationTimestamp: time(1_796_079_418),
    labels: { app: "cart" },
    annotations: { team: "data" },
    ownerReferences: [{ kind: "ReplicaSet", name: "cart-67df", uid: "47de", apiVersion: "apps/v1", controller: true }],
  },
  spec: {
    nodeName: "node-a",
    restartPolicy: "Always",
    serviceAccountName: "",
    volumes: [
      {
        name: "info",
        volumeSource: { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
      },
    ],
    containers: [
      { name: "redis", image: "redis:7", resources: { limits: { memory: { string: "64Mi" } }, requests: {} } },
    ],
    ephemeralContainers: [{ ephemeralContainerCommon: { name: "debug", image: "busybox" } }],
  },
  status: {
    phase: "Running",
    podIP: "10.88.0.106",
    podIPs: [{ ip: "10.88.0.106" }],
    containerStatuses: [
      {
        name: "redis",
        containerID: "containerd://8d09",
        restartCount: 0,
        state: { running: { startedAt: time(1_796_079_419) } },
      },
    ],
  },
});

describe("a pod of the Pods API", () => {
  it("becomes the JSON that the API server gives", () => {
    expect(
      apiPodOf({
        metadata: { name: "a", uid: "u", namespace: "", generation: "3", creationTimestamp: { seconds: "1796079418" } },
        spec: {
          volumes: [{ name: "info", volumeSource: { downwardAPI: { items: [] } } }],
          ephemeralContainers: [{ ephemeralContainerCommon: { name: "debug" } }],
          containers: [{ name: "c", resources: { limits: { cpu: { string: "100m" } } } }],
        },
        status: { containerStatuses: [{ state: { terminated: { exitCode: 0, startedAt: { seconds: "0" } } } }] },
      }),
    ).toEqual({
      metadata: { name: "a", uid: "u", generation: 3, creationTimestamp: "2026-11-30T22:56:58Z" },
      spec: {
        volumes: [{ name: "info", downwardAPI: { items: [] } }],
        ephemeralContainers: [{ name: "debug" }],
        containers: [{ name: "c", resources: { limits: { cpu: "100m" } } }],
      },
      status: { containerStatuses: [{ state: { terminated: { exitCode: 0, startedAt: null } } }] },
    });
  });
});

describe("the Pods API client", () => {
  let folder: string;
  let socket: string;
  let server: Server;
  let watch: (call: { write(message: object): void; end(): void }) => void = () => {};
  let pods: readonly object[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "pods-"));
    socket = join(folder, "pods.sock");
    const service = fromJSON(parseProto(PODS_API_PROTO))["v1alpha1.Pods"];
    server = new Server();
    server.addService(Object.fromEntries(Object.entries(service ?? {})), {
      ListPods: (_call: object, answer: (error: null, value: object) => void) => answer(null, { pods }),
      WatchPods: (call: { write(message: object): void; end(): void }) => watch(call),
    });
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      );
    });
  });
  afterEach(() => {
    server.forceShutdown();
    rmSync(folder, { recursive: true, force: true });
  });

  it("lists pods with what a record needs", async () => {
    pods = [pod("549c")];
    const [listed] = await listKubeletPods(socket, new AbortController().signal);
    expect(listed).toMatchObject({
      metadata: { uid: "549c", generation: 3, creationTimestamp: "2026-11-30T22:56:58Z", labels: { app: "cart" } },
      spec: {
        containers: [{ resources: { limits: { memory: "64Mi" } } }],
        volumes: [
          { name: "info", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
        ],
      },
      status: { containerStatuses: [{ restartCount: 0, state: { running: { startedAt: "2026-11-30T22:56:59Z" } } }] },
    });
  });

  it("follows changes, and takes what a new connection omits for gone", async () => {
    const seen: string[] = [];
    let connections = 0;
    watch = (call) => {
      connections += 1;
      if (connections === 1) {
        call.write({ type: "ADDED", pod: pod("a") });
        call.write({ type: "ADDED", pod: pod("b") });
        call.write({ type: "ADDED", pod: pod("c") });
        call.write({ type: "INITIAL_SYNC_COMPLETE" });
        call.write({ type: "DELETED", pod: { metadata: { uid: "b", name: "cart-0", namespace: "shop" } } });
        call.end();
      } else {
        call.write({ type: "ADDED", pod: pod("a", "again") });
        call.write({ type: "INITIAL_SYNC_COMPLETE" });
      }
    };
    const stop = new AbortController();
    const done = followKubeletPods({
      socket,
      signal: stop.signal,
      random: () => 0,
      handler: {
        pod: (value) => seen.push(`pod ${Reflect.get(Object(value["metadata"]), "uid")}`),
        gone: (uid) => seen.push(`gone ${uid}`),
        synced: () => seen.push("synced"),
        away: (code) => seen.push(code),
      },
    });
    await expect.poll(() => seen.at(-1)).toBe("synced");
    await expect
      .poll(() => seen)
      .toEqual(["pod a", "pod b", "pod c", "synced", "gone b", "TRAWLER_UNAVAILABLE", "pod a", "gone c", "synced"]);
    stop.abort();
    await done;
  });

  it("waits longer each time where the kubelet tells all and ends the stream at once", async () => {
    watch = (call) => {
      call.write({ type: "INITIAL_SYNC_COMPLETE" });
      call.end();
    };
    const stop = new AbortController();
    const waits: number[] = [];
    await followKubeletPods({
      socket,
      signal: stop.signal,
      random: () => 1,
      sleep: async (milliseconds) => {
        if (waits.push(milliseconds) === 4) stop.abort();
      },
      handler: { pod: () => {}, gone: () => {} },
    });
    expect(waits).toEqual([100, 800, 1600, 3200]);
  });
});
