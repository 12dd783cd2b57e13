import { describe, expect, test } from "vitest";
import { boundedMap, CUT_MARK, cutText, DROPPED_KEY } from "../src/pods/bounded-map.ts";
import { parsePod } from "../src/pods/parse.ts";
import { parseBytes, parseQuantity } from "../src/pods/quantity.ts";
import { IDS, map, rawPod, record, T0, T1, UID } from "./join-fixtures.ts";

describe("quantities", () => {
  test.each([
    ["10m", 0.01],
    ["0.1", 0.1],
    ["1", 1],
    ["1.5Gi", 1610612736],
    ["16Mi", 16777216],
    ["1e3", 1000],
    ["1E3", 1000],
    ["1E", 1e18],
    ["1.5e-3", 0.0015],
    ["100n", 1e-7],
    ["250u", 0.00025],
    ["2k", 2000],
    ["128974848", 128974848],
    ["9007199254740993", 9007199254740992],
    ["8Ei", 2 ** 63],
    [".5", 0.5],
    ["5.", 5],
    ["+1", 1],
    ["", null],
    [".", null],
    ["-1", null],
    ["1mi", null],
    ["1 Gi", null],
    ["0x10", null],
    ["1e999", null],
    ["1".repeat(100), null],
    [null, null],
    [{}, null],
    [2, 2],
    [Number.NaN, null],
  ])("%j is %s", (text, expected) => {
    expect(parseQuantity(text)).toBe(expected);
  });

  test("bytes are whole, rounded up", () => {
    expect(parseBytes("100m")).toBe(1);
    expect(parseBytes("1.5Ki")).toBe(1536);
  });
});

describe("maps of foreign keys", () => {
  test("C45: names of the prototype are ordinary keys", () => {
    const source = JSON.parse('{"__proto__":"x","constructor":"y","toString":"z","":"e"}');
    const { map: kept, cut } = boundedMap(source, { value: 100, total: 1000 });
    expect(Object.getPrototypeOf(kept)).toBeNull();
    expect(JSON.stringify(kept)).toBe('{"__proto__":"x","constructor":"y","toString":"z","":"e"}');
    expect(cut).toBe(0);
    expect(Reflect.get({}, "x")).toBeUndefined();
  });

  test("C45: a value of 70 kB is cut and marked", () => {
    const { map: kept, cut } = boundedMap({ big: "v".repeat(70_000) }, { value: 4096, total: 65536 });
    expect(Buffer.byteLength(kept["big"] ?? "")).toBe(4096);
    expect(kept["big"]?.endsWith(CUT_MARK)).toBe(true);
    expect(cut).toBe(1);
  });

  test("a cut never splits a character", () => {
    for (let bytes = 20; bytes < 40; bytes += 1) {
      const text = cutText("Łódź 東京 🚚".repeat(10), bytes);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes);
      expect(text).not.toContain("\uFFFD");
    }
  });

  test("C46: last-applied is dropped, the rest is bounded and says what is missing", () => {
    const source: Record<string, unknown> = { "kubectl.kubernetes.io/last-applied-configuration": "x".repeat(250_000) };
    for (let index = 0; index < 300; index += 1) source[`note-${index}`] = "n".repeat(1000);
    const { annotations, cut } = record({ metadata: { annotations: source, managedFields: [{ big: true }] } });
    expect(Object.keys(annotations).some((key) => key.includes("last-applied"))).toBe(false);
    expect(JSON.stringify(annotations).length).toBeLessThan(70_000);
    expect(Number(annotations[DROPPED_KEY])).toBe(cut);
    expect(Object.keys(annotations).length - 1 + cut).toBe(300);
  });

  test("what is no text is left out", () => {
    expect(boundedMap({ a: 1, b: null, c: "c" }, { value: 100, total: 100 })).toEqual({ map: map({ c: "c" }), cut: 0 });
    expect(boundedMap(["a"], { value: 100, total: 100 }).map).toEqual(map());
  });
});

describe("a pod's record", () => {
  test("holds what the API says, in base units", () => {
    expect(record()).toMatchObject({
      uid: UID,
      namespace: "shop",
      name: "cart-0",
      resourceVersion: "332",
      generation: 1,
      phase: "Running",
      qosClass: "Burstable",
      podIps: ["10.88.0.106"],
      hostIps: ["192.0.2.10"],
      conditions: [{ type: "Ready", status: "True", reason: null, since: T0 }],
      containers: [
        {
          name: "redis",
          type: "app",
          cpu: { requestDesired: 0.01, requestCurrent: null, limitDesired: null, limitCurrent: null },
          memory: { requestDesired: 16777216, requestCurrent: null, limitDesired: 67108864, limitCurrent: null },
        },
      ],
      statuses: [{ name: "redis", id: IDS.a, runtimeName: "containerd", status: "running", startedAt: T0 }],
    });
  });

  test("init, sidecar and ephemeral containers are told apart", () => {
    const { containers } = record({
      spec: {
        initContainers: [{ name: "setup" }, { name: "mesh", restartPolicy: "Always" }],
        containers: [{ name: "web" }],
        ephemeralContainers: [{ name: "debug" }],
      },
    });
    expect(containers.map(({ name, type }) => [name, type])).toEqual([
      ["setup", "init"],
      ["mesh", "sidecar"],
      ["web", "app"],
      ["debug", "ephemeral"],
    ]);
  });

  test("an in-place resize shows desired and current", () => {
    const resources = { requests: { cpu: "500m" }, limits: { memory: "1Gi" } };
    const { containers } = record({ status: { containerStatuses: [{ name: "redis", resources }] } });
    expect(containers[0]?.cpu).toEqual({
      requestDesired: 0.01,
      requestCurrent: 0.5,
      limitDesired: null,
      limitCurrent: null,
    });
    expect(containers[0]?.memory.limitCurrent).toBe(2 ** 30);
  });

  test("the last termination and the reason of a wait", () => {
    const terminated = {
      exitCode: 137,
      reason: "OOMKilled",
      startedAt: T0,
      finishedAt: T1,
      containerID: `containerd://${IDS.b}`,
    };
    const { statuses } = record({
      status: {
        containerStatuses: [
          {
            name: "redis",
            restartCount: 3,
            state: { waiting: { reason: "CrashLoopBackOff" } },
            lastState: { terminated },
            imageID: `registry.example.test/redis@sha256:${"d".repeat(64)}`,
          },
        ],
      },
    });
    expect(statuses[0]).toMatchObject({
      status: "waiting",
      reason: "CrashLoopBackOff",
      restarts: 3,
      lastId: IDS.b,
      digest: `sha256:${"d".repeat(64)}`,
      lastTermination: { reason: "OOMKilled", exitCode: 137, startedAt: T0, finishedAt: T1 },
    });
  });

  test("only names of fieldRef variables and downward items are kept, never a value", () => {
    const env = [
      { name: "PASSWORD", value: "hunter2" },
      { name: "MY_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "KEY", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
    ];
    const item = { path: "labels", fieldRef: { fieldPath: "metadata.labels" } };
    const volumes = [
      { name: "info", downwardAPI: { items: [item] } },
      {
        name: "all",
        projected: { sources: [{ serviceAccountToken: { path: "token" } }, { downwardAPI: { items: [item] } }] },
      },
    ];
    const parsed = record({ spec: { containers: [{ name: "web", env }], volumes } });
    expect(parsed.containers[0]?.environment).toEqual(map({ MY_IP: "status.podIP" }));
    expect(parsed.downward).toEqual([
      { volume: "info", projected: false, path: "labels", field: "metadata.labels" },
      { volume: "all", projected: true, path: "labels", field: "metadata.labels" },
    ]);
    expect(JSON.stringify(parsed)).not.toContain("hunter2");
  });

  test("C37: a mirror pod names its manifest", () => {
    const hash = "a1b2c3d4e5f60718293a4b5c6d7e8f90";
    const annotations = { "kubernetes.io/config.hash": hash, "kubernetes.io/config.mirror": hash };
    expect(record({ metadata: { annotations } })).toMatchObject({ static: true, configHash: hash });
    const claim = { "kubernetes.io/config.hash": UID, "kubernetes.io/config.mirror": UID };
    expect(record({ metadata: { annotations: claim } }).configHash).toBeNull();
  });

  test("C40: a status without containers", () => {
    const status = { phase: "Failed", reason: "Evicted", message: "low on resource" };
    const pod = { metadata: { uid: UID, namespace: "shop", name: "cart-0" }, status };
    expect(parsePod(pod)).toMatchObject({
      phase: "Failed",
      reason: "Evicted",
      statuses: [],
      podIps: [],
      containers: [],
    });
    const bare = parsePod({ ...pod, status: { phase: "Failed" } });
    expect(bare?.reason).toBeNull();
    const waiting = [{ name: "c", state: { waiting: {} }, containerID: "", imageID: "" }];
    const odd = parsePod({ ...pod, status: { containerStatuses: waiting } });
    expect(odd?.statuses[0]).toMatchObject({ id: null, digest: null, status: "waiting", reason: null });
    // The default that the API's reference gives.
    const empty = parsePod({ ...pod, status: { containerStatuses: [{ name: "c", state: {} }] } });
    expect(empty?.statuses[0]?.status).toBe("waiting");
  });

  test("C49: nothing optional is present: absent is null, never empty", () => {
    const name = "n".repeat(253);
    const parsed = parsePod({ metadata: { uid: UID, namespace: "shop", name, generateName: "n-" } });
    expect(parsed).toMatchObject({ name, qosClass: null, startTime: null, phase: null, nodeName: null, owners: [] });
    expect(Object.values(parsed ?? {})).not.toContain("");
    expect(parsePod({ metadata: { uid: UID, namespace: "shop", generateName: "n-" } })).toBeNull();
  });

  test.each([
    { metadata: 7 },
    { metadata: { uid: UID, namespace: "shop", name: "x", labels: [], ownerReferences: {} }, spec: [], status: "no" },
    rawPod({ spec: { containers: [null, 7, { name: 9 }, {}], volumes: [7], initContainers: "x" } }),
    rawPod({ status: { containerStatuses: [{}], podIPs: [7, {}], conditions: [{}], startTime: "yesterday" } }),
  ])("hostile JSON %# is read without a throw", (pod) => {
    expect(() => parsePod(pod)).not.toThrow();
  });

  test("lists without end are bounded", () => {
    const containers = Array.from({ length: 5000 }, (_, index) => ({ name: `c${index}` }));
    const ownerReferences = Array.from({ length: 5000 }, () => ({ kind: "K", name: "n", uid: "u" }));
    const parsed = record({ metadata: { ownerReferences }, spec: { containers } });
    expect(parsed.containers.length).toBe(256);
    expect(parsed.owners.length).toBe(16);
  });
});
