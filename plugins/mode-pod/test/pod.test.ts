import type { Access, Container, Workload } from "@trawler/plugin-api";
import { fakeContainer, fakeContext, fakeHost, fakeNode, modeContract } from "@trawler/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import mode from "../src/index.ts";
import { CapturedNode, type CapturedPod } from "./captured.ts";

const ended = (container: Container): Container => ({
  ...container,
  state: { ...container.state, status: "terminated", exitCode: 0 },
});

/** The one capability, which the test says must be there. */
function need<C extends keyof Access>(access: Partial<Access> | undefined, capability: C): Access[C] {
  const found = access?.[capability];
  if (found === undefined) throw new Error(`no ${capability}`);
  return found;
}

describe.each(["cgroup2-cgroupfs", "cgroup2-systemd-6.12"])("a pod on %s", { timeout: 60_000 }, (name) => {
  let node: CapturedNode;
  let pod: CapturedPod;
  const context = fakeContext();

  beforeAll(() => {
    node = new CapturedNode(name);
    pod = node.pod("shop-redis");
  }, 60_000);
  afterAll(() => node[Symbol.dispose]());

  const create = async () => mode.create({}, fakeHost({ node: { ...fakeNode, paths: node.paths } }));
  const open = async (workload: Workload) => (await create()).open(workload, context);

  test("each container is a member with its own figures; the pod has those of all", async () => {
    await using subject = await open(pod.workload);
    expect([...subject.members.keys()]).toEqual(pod.workload.containers.map(({ id }) => id));
    let sum = 0;
    for (const [id, access] of subject.members) {
      expect(Object.keys(access).sort()).toEqual([...mode.provides.member].sort());
      const { usage } = await need(access, "cgroup").memory();
      expect(usage).toBe(pod.usage.get(id));
      sum += usage ?? 0;
    }
    expect(Object.keys(subject.access).sort()).toEqual([...mode.provides.subject].sort());
    expect((await need(subject.access, "cgroup").memory()).usage).toBeGreaterThan(sum * 0.9);
  });

  test("the sandbox is no member, and its process is none of the pod's", async () => {
    await using subject = await open(pod.workload);
    const { processes } = await need(subject.access, "proc").processes();
    expect(processes.map(({ command }) => command)).toEqual(expect.arrayContaining(["redis-server", "nginx"]));
    expect(processes.map(({ command }) => command)).not.toContain("pause");
    const redis = subject.members.get(pod.workload.containers.find(({ name }) => name === "redis")?.id ?? "");
    const commands = await need(redis, "proc").commands();
    expect(commands.map(({ command }) => command)).toContain("redis-server");
    expect(commands.map(({ command }) => command)).not.toContain("nginx");
  });

  test("C54: without a sandbox the network is read through any container", async () => {
    await using subject = await open({ ...pod.workload, sandbox: null });
    const interfaces = await need(subject.access, "net").interfaces();
    expect(interfaces.map(({ name }) => name)).toEqual(["eth0"]);
    expect((await need(subject.access, "proc").sockets()).sockets.map(({ localPort }) => localPort)).toContain(6379);
  });

  test("C42: a sandbox that has been replaced is not read by its old process", async () => {
    await using subject = await open({
      ...pod.workload,
      sandbox: { id: "f".repeat(64), handle: { pid: 1, containerId: "f".repeat(64) }, hostNetwork: false },
    });
    // Process 1 is not of the sandbox that it is said to be: the containers' processes tell.
    expect((await need(subject.access, "net").interfaces()).map(({ name }) => name)).toEqual(["eth0"]);
  });

  test("C30: with the node's network: no figures, but a reason", async () => {
    const sandbox = { id: "f".repeat(64), handle: {}, hostNetwork: true };
    await using subject = await open({ ...pod.workload, sandbox });
    await expect(need(subject.access, "net").interfaces()).rejects.toMatchObject({ code: "TRAWLER_UNSUPPORTED" });
    const { sockets } = await need(subject.access, "proc").sockets();
    expect(sockets.every(({ pid }) => pid !== null)).toBe(true);
  });

  test("what an update opens while the subject is being closed is closed too", async () => {
    const [first, second] = pod.workload.containers;
    if (first === undefined || second === undefined) throw new Error("two containers expected");
    const subject = await open({ ...pod.workload, containers: [first] });
    const following = subject.update({ ...pod.workload, containers: [ended(first), second] }, context);
    await subject[Symbol.asyncDispose]();
    await following;
    expect([...subject.members.keys()]).toEqual([]);
  });

  test("what begins is opened, what ends is closed, and the pod's figures outlive its containers", async () => {
    const [first, second] = pod.workload.containers;
    if (first === undefined || second === undefined) throw new Error("two containers expected");
    await using subject = await open({ ...pod.workload, containers: [first] });
    expect([...subject.members.keys()]).toEqual([first.id]);
    const closed = need(subject.members.get(first.id ?? ""), "cgroup");

    await subject.update({ ...pod.workload, containers: [ended(first), second] }, context);
    expect([...subject.members.keys()]).toEqual([second.id]);
    await expect(closed.cpu()).rejects.toMatchObject({ code: "TRAWLER_GONE" });

    await subject.update({ ...pod.workload, lifecycle: "ended", containers: [ended(first), ended(second)] }, context);
    expect(subject.members.size).toBe(0);
    expect((await need(subject.access, "cgroup").cpu()).time).toBeGreaterThan(0);
    expect(await need(subject.access, "proc").processes()).toEqual({ processes: [], total: 0 });
  });

  test("a member that has gone is left out, and costs nobody else anything", async () => {
    const id = "0".repeat(64);
    const ghost = fakeContainer({ name: "ghost", id, handle: { pid: 999_999, containerId: id } });
    await using subject = await open({ ...pod.workload, containers: [ghost, ...pod.workload.containers] });
    expect([...subject.members.keys()]).toEqual(pod.workload.containers.map((container) => container.id));
    expect((await need(subject.access, "proc").processes()).total).toBeGreaterThan(0);
  });

  test("a pod that ended before it was seen has no figures, and says so", async () => {
    const podUid = "11111111-2222-4333-8444-555555555555";
    await using subject = await open({
      ...pod.workload,
      id: podUid,
      handle: { podUid },
      containers: [],
      sandbox: null,
    });
    await expect(need(subject.access, "cgroup").cpu()).rejects.toMatchObject({ code: "TRAWLER_UNSUPPORTED" });
    await expect(need(subject.access, "net").interfaces()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  });

  test("containers that wait, and those that the runtime does not have, are no members", async () => {
    const [first] = pod.workload.containers;
    const waiting = fakeContainer({
      name: "w",
      id: "1".repeat(64),
      state: { ...fakeContainer().state, status: "waiting" },
    });
    const declared = fakeContainer({ name: "d", id: null });
    const containers = [waiting, declared, ...(first === undefined ? [] : [first])];
    await using subject = await open({ ...pod.workload, containers });
    expect([...subject.members.keys()]).toEqual([first?.id]);
  });

  test("`meta` is the workload as last reported, and the member's container", async () => {
    await using subject = await open(pod.workload);
    const relabelled = { ...pod.workload, labels: { app: "cart" } };
    await subject.update(relabelled, context);
    expect(subject.access.meta).toEqual({ workload: relabelled, container: null });
    const [first] = relabelled.containers;
    expect(subject.members.get(first?.id ?? "")?.meta).toEqual({ workload: relabelled, container: first });
  });

  test("disposing is safe twice, and ends all access", async () => {
    const subject = await open(pod.workload);
    const figures = need(subject.access, "cgroup");
    await subject[Symbol.asyncDispose]();
    await subject[Symbol.asyncDispose]();
    await expect(figures.cpu()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  });
});

describe("contract", () => {
  const world = async () => {
    const node = new CapturedNode("cgroup2-cgroupfs");
    const { workload } = node.pod("shop-redis");
    const [first, ...others] = workload.containers;
    const gone = { ...workload, containers: [fakeContainer({ id: "0".repeat(64), handle: { pid: 999_999 } })] };
    return {
      host: { node: { ...fakeNode, paths: node.paths } },
      workload,
      ended: { ...workload, containers: [...(first === undefined ? [] : [ended(first)]), ...others] },
      gone,
      [Symbol.asyncDispose]: async () => node[Symbol.dispose](),
    };
  };
  for (const { name, run } of modeContract(mode, { world })) test(name, run, 60_000);
});

test("a static pod is found by its manifest's hash, or by its containers", async () => {
  using node = new CapturedNode("cgroup2-systemd-6.12");
  const { workload, cgroup } = node.pod("static-web-node-v2");
  expect(cgroup).toContain(workload.handle.podUid);
  const instance = await mode.create({}, fakeHost({ node: { ...fakeNode, paths: node.paths } }));
  const uid = "11111111-2222-4333-8444-555555555555";
  await using subject = await instance.open({ ...workload, id: uid, handle: { podUid: uid } }, fakeContext());
  expect((await need(subject.access, "cgroup").cpu()).time).toBeGreaterThan(0);
}, 60_000);
