import { describe, expect, test } from "vitest";
import { parseCgroupIdentity } from "../../src/cgroup/identity.ts";
import { parseProcessCgroups, processPaths } from "../../src/cgroup/proc-cgroup.ts";
import { CAPTURES, Capture } from "../captured.ts";

const ID = "a1".repeat(32);
const INNER = "b2".repeat(32);
const UID = "549ca199-9aa0-4ee0-aa35-30a1d156c5f1";
const UNDERSCORED = UID.replaceAll("-", "_");
const HASH = "63b78e45efa5f6092bd3543d4871417f";

describe("C76: container id and pod UID out of a path", () => {
  const cases: readonly [string, string, string | null, string | null][] = [
    ["containerd, cgroupfs", `/kubepods/besteffort/pod${UID}/${ID}`, ID, UID],
    ["Guaranteed, cgroupfs", `/kubepods/pod${UID}/${ID}`, ID, UID],
    [
      "containerd, systemd",
      `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${UNDERSCORED}.slice/cri-containerd-${ID}.scope`,
      ID,
      UID,
    ],
    ["Guaranteed, systemd", `/kubepods.slice/kubepods-pod${UNDERSCORED}.slice/cri-containerd-${ID}.scope`, ID, UID],
    ["static pod", `/kubepods/burstable/pod${HASH}/${ID}`, ID, HASH],
    ["static pod, systemd", `/kubepods.slice/kubepods-burstable-pod${HASH}.slice/cri-containerd-${ID}.scope`, ID, HASH],
    ["CRI-O", `/kubepods.slice/kubepods-pod${UNDERSCORED}.slice/crio-${ID}.scope`, ID, UID],
    ["CRI-O, nested", `/kubepods.slice/kubepods-pod${UNDERSCORED}.slice/crio-${ID}.scope/container`, ID, UID],
    ["CRI-O's conmon", `/kubepods.slice/kubepods-pod${UNDERSCORED}.slice/crio-conmon-${ID}.scope`, null, UID],
    ["cri-dockerd", `/kubepods.slice/kubepods-pod${UNDERSCORED}.slice/docker-${ID}.scope`, ID, UID],
    ["Docker, cgroupfs", `/docker/${ID}`, ID, null],
    ["Docker, systemd", `/system.slice/docker-${ID}.scope`, ID, null],
    ["Podman", `/machine.slice/libpod-${ID}.scope/container`, ID, null],
    ["Podman's conmon", `/machine.slice/libpod-conmon-${ID}.scope`, null, null],
    [
      "Podman, rootless",
      `/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-${ID}.scope/container`,
      ID,
      null,
    ],
    ["Docker in Docker: the innermost", `/docker/${ID}/docker/${INNER}`, INNER, null],
    ["systemd inside a container", `/docker/${ID}/system.slice/ssh.service`, ID, null],
    ["kind", `/docker/${ID}/kubelet/kubepods/besteffort/pod${UID}/${INNER}`, INNER, UID],
    ["kind: a pod's own cgroup", `/docker/${ID}/kubelet/kubepods/besteffort/pod${UID}`, null, UID],
    [
      "kubelet.slice",
      `/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable-pod${UNDERSCORED}.slice/cri-containerd-${ID}.scope`,
      ID,
      UID,
    ],
    [
      "containerd set to another driver",
      `/system.slice/containerd.service/kubepods-burstable-pod${UNDERSCORED}.slice:cri-containerd:${ID}`,
      ID,
      UID,
    ],
    ["a private namespace, cgroupfs", `/../../pod${UID}/${ID}`, ID, UID],
    ["a private namespace, systemd", `/../../kubepods-burstable-pod${UNDERSCORED}.slice/crio-${ID}.scope`, ID, UID],
    ["a private namespace's root", "/", null, null],
    ["somewhere above", "/../../x", null, null],
    ["a mount unit with an id", `/system.slice/var-lib-docker-${ID}.mount`, null, null],
    ["a service", "/system.slice/ssh.service", null, null],
    ["a short id", "/docker/0123456789ab", null, null],
  ];
  test.each(cases)("%s", (_, path, containerId, podUid) => {
    expect(parseCgroupIdentity(path)).toEqual({ containerId, podUid });
  });
});

describe("C76: /proc/PID/cgroup", () => {
  test("v1, hybrid and named hierarchies", () => {
    const text = `12:cpuacct,cpu:/docker/${ID}\n5:memory:/docker/${ID}\n1:name=systemd:/docker/${ID}\n0::/system.slice\n`;
    const { unified, controllers } = parseProcessCgroups(text);
    expect(unified).toBe("/system.slice");
    expect([...controllers.keys()].sort()).toEqual(["cpu", "cpuacct", "memory", "name=systemd"]);
    expect(processPaths({ unified, controllers })).toEqual([`/docker/${ID}`, "/system.slice"]);
  });

  test("a path with colons, and garbage", () => {
    expect(parseProcessCgroups(`0::/a.slice:cri-containerd:${ID}\nnonsense\n`).unified).toBe(
      `/a.slice:cri-containerd:${ID}`,
    );
    expect(processPaths(parseProcessCgroups(""))).toEqual([]);
  });

  test.each(CAPTURES.filter((name) => name !== "cgroup1-host"))(
    "%s: what an agent in a pod sees",
    (name) => {
      using capture = new Capture(name, ["meta/*"]);
      const paths = [...capture.meta("view-from-agent.txt").matchAll(/^(?:0:|\d+:memory):(\/.*pod.*)$/gm)].map(
        ([, path]) => path,
      );
      expect(paths.length).toBeGreaterThan(0);
      for (const path of paths) {
        const { containerId, podUid } = parseCgroupIdentity(path ?? "");
        expect(containerId).toMatch(/^[0-9a-f]{64}$/);
        expect(podUid).toMatch(/^[0-9a-f-]{32,36}$/);
      }
    },
    60_000,
  );
});
