import { describe, expect, it } from "vitest";
import { cgroupOf, parentCgroup } from "../src/cri/cgroup-path.ts";
import { containerOf, containerOfStatus, sandboxOf, sandboxOfStatus } from "../src/cri/map.ts";
import { stringMap } from "../src/cri/strings.ts";
import { timeOfNanos } from "../src/cri/time.ts";
import { parseVerbose } from "../src/cri/verbose.ts";
import { capture } from "./cri-fake.ts";

const containerd = capture("containerd");

describe("messages of a runtime", () => {
  it("make a sandbox with its pod's identity, labels and addresses", () => {
    const status = containerd.sandboxStatuses[0]?.status;
    if (status == null) throw new Error("fixture");
    const sandbox = sandboxOfStatus(status, "containerd");
    expect(sandbox).toMatchObject({
      uid: "9a71d5e5-4e2b-4b78-ad85-7d8e64c008a4",
      namespace: "default",
      name: "shop",
      attempt: 0,
      state: "ready",
      ips: ["10.88.0.2"],
      hostNetwork: false,
      runtimeName: "containerd",
      createdAt: "2026-11-30T22:56:58.928Z",
    });
    expect(sandbox?.labels["app"]).toBe("shop");
    expect(sandbox?.annotations["kubectl.kubernetes.io/last-applied-configuration"]).toBeUndefined();
  });

  it("make containers with image, digest, exit code and reason", () => {
    const exited = containerd.containerStatuses.map(({ status }) => status).find((status) => status?.exitCode === 3);
    if (exited == null) throw new Error("fixture");
    expect(containerOfStatus(exited)).toMatchObject({
      name: "work",
      image: "registry.example.test/busybox:1.35",
      digest: "sha256:d6e0ff10d691020781f9b0660fc771a66786e60c7cb37eee2021766c51c94aa8",
      state: "exited",
      exitCode: 3,
      reason: "Error",
    });
  });

  it("give the image as the user wrote it where a list has only its id beside it", () => {
    const item = containerd.containers[0];
    if (item === undefined) throw new Error("fixture");
    expect(item.image?.image).toMatch(/^sha256:/);
    expect(containerOf(item)?.image).toBe("registry.example.test/redis:7.0");
  });

  it("leave out what has no id or no pod", () => {
    const [item] = containerd.sandboxes;
    const [container] = containerd.containers;
    if (item === undefined || container === undefined) throw new Error("fixture");
    expect(sandboxOf({ ...item, id: "" }, "containerd")).toBeNull();
    expect(sandboxOf({ ...item, metadata: null, labels: {} }, "containerd")).toBeNull();
    expect(containerOf({ ...container, id: "" })).toBeNull();
  });

  it("say that a sandbox is on the node's network, and give it no address then", () => {
    const status = containerd.sandboxStatuses[0]?.status;
    if (status == null) throw new Error("fixture");
    const host = sandboxOfStatus({ ...status, linux: { namespaces: { options: { network: "NODE" } } } }, "containerd");
    expect(host).toMatchObject({ hostNetwork: true, ips: [] });
  });
});

describe("a verbose status", () => {
  it("gives pid, cgroup and the allow-listed environment, and no secret", () => {
    const work = containerd.containerStatuses.find(({ status }) => status?.exitCode === 3);
    expect(work?.info["info"]).toContain("not-a-real-secret");
    const info = parseVerbose(work?.info ?? {});
    expect({ ...info.environment }).toEqual({ POD_NAME: "brief", POD_IP: "10.88.0.3" });
    expect(JSON.stringify(info)).not.toContain("not-a-real-secret");
    expect(info.image).toBe("registry.example.test/busybox:1.35");
    const named = parseVerbose(work?.info ?? {}, new Set(["MY_NODE"]));
    expect(named.environment["MY_NODE"]).toBe("node-a");
  });

  it("never gives pid 0", () => {
    expect(parseVerbose({ info: '{"pid":0}' }).pid).toBeNull();
    expect(parseVerbose({ info: '{"pid":4202}' }).pid).toBe(4202);
  });

  it.each([
    "",
    "nonsense",
    "[]",
    "null",
    '{"runtimeSpec":7,"pid":"1"}',
    '{"runtimeSpec":{"process":{"env":[1,"=x","POD_UID"]}}}',
  ])("that is unreadable gives nulls: %s", (info) => {
    expect(parseVerbose({ info })).toMatchObject({ pid: null, cgroupsPath: null, environment: {} });
  });
});

describe("a cgroupsPath", () => {
  const uid = "2b1c9e40_5f0a_4c1e_9d3b_6f7a8b9c0d1e";
  it.each([
    ["/kubepods/burstable/pod1/abc", "/kubepods/burstable/pod1/abc"],
    [
      `kubepods-burstable-pod${uid}.slice:cri-containerd:abc`,
      `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid}.slice/cri-containerd-abc.scope`,
    ],
    [`kubepods-pod${uid}.slice:crio:abc`, `/kubepods.slice/kubepods-pod${uid}.slice/crio-abc.scope`],
    ["/kubepods/../../etc", null],
    ["", null],
    [null, null],
  ])("%s stands for %s", (text, path) => {
    expect(cgroupOf(text)).toBe(path);
  });

  it("has its pod's above it", () => {
    expect(parentCgroup("/kubepods/pod1/abc")).toBe("/kubepods/pod1");
    expect(parentCgroup("/abc")).toBeNull();
    expect(parentCgroup(null)).toBeNull();
  });
});

describe("times and labels", () => {
  it.each(["0", "", "-6795364578871345152", "x", "99999999999999999999999"])("%s is no time", (nanos) => {
    expect(timeOfNanos(nanos)).toBeNull();
  });

  it("C45: hostile keys are data like any other", () => {
    const map = stringMap(JSON.parse('{"__proto__":"x","constructor":"y","":"z"}'));
    expect(Object.getPrototypeOf(map)).toBeNull();
    expect(Object.entries(map)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
      ["", "z"],
    ]);
    expect(Reflect.get({}, "x")).toBeUndefined();
  });

  it("C45: a value of 70 kB is cut", () => {
    expect(stringMap({ key: "v".repeat(70_000) })["key"]).toHaveLength(16 * 1024);
  });
});
