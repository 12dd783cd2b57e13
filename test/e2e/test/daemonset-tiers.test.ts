import { readFileSync } from "node:fs";
import type { Frame } from "@trawler/plugin-api";
import { kubectl, run } from "@trawler/testbed";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildImage, nodeRoot, pidOf, Release, statusOf } from "../src/daemonset.ts";
import { container, feature } from "../src/frames.ts";
import { pod, redis } from "../src/manifests.ts";
import { apply, node, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

/** Bits of capabilities(7). */
const DAC_READ_SEARCH = 1n << 2n;
const SYS_PTRACE = 1n << 19n;
const SYS_ADMIN = 1n << 21n;

/** Crawlers of figures, one that reads files, one that connects. */
const crawlers = Object.fromEntries(
  ["cpu", "memory", "blockio", "network", "process", "connection", "os", "redis"].map((name) => [name, {}]),
);

/** Calls openat2(2) of `/` as the agent does: prints a descriptor's number, or why it was refused. */
const OPENAT2 = `
  const koffi = require("/opt/trawler/node_modules/koffi");
  const syscall = koffi.load("libc.so.6").func("long syscall(long, long, const char *, void *, long)");
  const how = new BigUint64Array([0x80000n, 0n, 0x12n]);
  console.log(syscall(437, -100, "/", how, 24) >= 0 ? "opened" : "errno " + koffi.errno());`;

onNode("The tiers of a DaemonSet", "e2e-daemonset-tiers", (namespace) => {
  let release: Release;
  const at = `${namespace}/at-pod-ip`;
  const loopback = `${namespace}/loopback`;

  beforeAll(async () => {
    await buildImage();
    await apply(
      pod(namespace, "at-pod-ip", { containers: [redis("--bind", "0.0.0.0")] }),
      pod(namespace, "loopback", { containers: [redis("--bind", "127.0.0.1")] }),
    );
    await Promise.all([podReady(namespace, "at-pod-ip"), podReady(namespace, "loopback")]);
    release = await Release.install(namespace, { tier: "figures", crawlers });
  }, 300_000);
  afterAll(() => release?.[Symbol.asyncDispose]());

  /** Instances of agents that ran before the one that is asked for. */
  let earlier: ReadonlySet<string> = new Set();
  const change = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
    earlier = new Set(release.read().map(({ agent }) => agent.instance));
    await release.upgrade({ crawlers, config: { host: { root: nodeRoot() } }, ...values });
  };

  /** A frame of the agent that runs now, with its figures. */
  const whole = (name: string, test: (frame: Frame) => boolean = () => true): Promise<Frame> =>
    release.next(name, "with cpu", (frame) => {
      const member = frame.containers.find((one) => one.name === "redis");
      return (
        !earlier.has(frame.agent.instance) &&
        member !== undefined &&
        feature(member, "cpu") !== undefined &&
        test(frame)
      );
    });

  const expectRights = async (capabilities: bigint, user: number): Promise<number> => {
    const pid = await pidOf(await release.ready());
    expect(statusOf(pid, "Uid").split("\t")).toEqual(Array(4).fill(String(user)));
    for (const set of ["CapEff", "CapPrm", "CapBnd"]) expect(BigInt(`0x${statusOf(pid, set)}`)).toBe(capabilities);
    for (const set of ["CapInh", "CapAmb"]) expect(BigInt(`0x${statusOf(pid, set)}`)).toBe(0n);
    expect(statusOf(pid, "NoNewPrivs")).toBe("1");
    // A filter: the runtime's default profile.
    expect(statusOf(pid, "Seccomp")).toBe("2");
    return pid;
  };

  const mountsOf = (pid: number): string[][] =>
    readFileSync(`/proc/${pid}/mountinfo`, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(" "));

  test("figures: nobody without any capability sends figures and metadata", async () => {
    await expectRights(0n, 65_532);
    const frame = await whole(at);
    const redisContainer = container(frame, "redis");
    expect(frame.metadata.complete).toBe(true);
    expect(frame.metadata.groups.identity?.source).toBe("api");
    expect(frame.resource["k8s.node.name"]).toBe(node().kubernetes.node);
    for (const type of ["cpu", "memory", "process"]) expect(feature(redisContainer, type), type).toBeDefined();
    expect(feature(frame, "network")).toBeDefined();
    // Without its process: whose socket it is takes more rights to tell.
    expect(feature(frame, "connection")).toBeDefined();
    expect(redisContainer.digest).toMatch(/^sha256:/);
  });

  test("figures: an application at the pod's IP is reached, what takes more rights is denied, once in a frame", async () => {
    const frame = await whole(at, (one) => feature(container(one, "redis"), "redis") !== undefined);
    expect(feature(container(frame, "redis"), "redis")).toMatchObject({ state: "ok", version: expect.any(String) });
    expect(feature(container(frame, "redis"), "os")).toBeUndefined();
    expect(container(frame, "redis").problems).toMatchObject([
      { crawler: "os", code: "denied", message: expect.stringContaining("CAP_SYS_PTRACE") },
    ]);
    // Nothing is said of it in the log, however often it happens.
    const lines = (await release.logs()).trimEnd().split("\n");
    expect(lines.filter((line) => /denied|EACCES|EPERM/i.test(line))).toEqual([]);
    expect(lines.length).toBeLessThan(20);
  });

  test("figures: the node's control groups are all that is mounted of it, and cannot be written", async () => {
    const mounts = mountsOf(await pidOf(await release.ready()));
    const groups = mounts.filter(([, , , , point]) => point?.startsWith("/host"));
    expect(groups.length).toBeGreaterThan(0);
    for (const [, , , , point, options] of groups) {
      expect(point).toMatch(/^\/host\/sys\/fs\/cgroup(\/|$)/);
      expect(options?.split(",")).toContain("ro");
    }
    const [, , , , , rootOptions] = mounts.find(([, , , , point]) => point === "/") ?? [];
    expect(rootOptions?.split(",")).toContain("ro");
    await expect(release.exec("node", "-e", "require('fs').writeFileSync('/x','')")).rejects.toThrow(/EROFS/);
  });

  test("the agent's own token may read pods and two kinds of owner, and nothing else", async () => {
    const pid = await pidOf(await release.ready());
    const token = readFileSync(`/proc/${pid}/root/var/run/secrets/kubernetes.io/serviceaccount/token`, "utf8");
    const { apiServer, caFile } = node().kubernetes;
    const asAgent = (...args: string[]) =>
      run(
        "kubectl",
        [
          "--kubeconfig=/dev/null",
          `--server=${apiServer}`,
          `--certificate-authority=${caFile}`,
          `--token=${token}`,
          ...args,
        ],
        { tolerate: true },
      );
    const rulesOf = (text: string): string[] =>
      text
        .trimEnd()
        .split("\n")
        .map((line) => line.replace(/\s+/g, " ").trim());
    const list = ["auth", "can-i", "--list", "--no-headers"];
    const account = `system:serviceaccount:${namespace}:default`;
    const groups = ["authenticated", "serviceaccounts", `serviceaccounts:${namespace}`];
    const everyone = await kubectl([
      ...list,
      `--as=${account}`,
      ...groups.map((group) => `--as-group=system:${group}`),
    ]);
    // Every account may ask for its own rights, for the server's version and so on.
    const own = rulesOf((await asAgent(...list)).stdout).filter((rule) => !rulesOf(everyone.stdout).includes(rule));
    expect(own.sort()).toEqual([
      "jobs.batch [] [] [get]",
      "pods [] [] [get list watch]",
      "replicasets.apps [] [] [get]",
    ]);
    for (const question of [
      ["get", "secrets"],
      ["list", "nodes"],
      ["get", "nodes/proxy"],
      ["create", "pods/exec"],
      ["list", "replicasets.apps"],
      ["get", "configmaps"],
      ["delete", "pods"],
    ]) {
      expect((await asAgent("auth", "can-i", ...question, "-A")).stdout.trim(), question.join(" ")).toBe("no");
    }
    const secrets = await asAgent("get", "secrets", "-n", namespace);
    expect(secrets.code).not.toBe(0);
    expect(secrets.stderr).toContain("Forbidden");
  });

  test("files: root with two capabilities reads what containers hold and hears the runtime's events", async () => {
    await change({ tier: "files" });
    await expectRights(SYS_PTRACE | DAC_READ_SEARCH, 0);
    const frame = await whole(at, (one) => feature(container(one, "redis"), "os") !== undefined);
    expect(frame.metadata.groups.identity?.source).toBe("cri");
    expect(feature(container(frame, "redis"), "os")).toMatchObject({ id: "debian" });
    expect(feature(container(frame, "redis"), "redis")).toMatchObject({ state: "ok" });
    expect(container(frame, "redis").problems).toEqual([]);
    // From outside of its network namespace there is no way to it.
    const hidden = await whole(loopback);
    expect(feature(container(hidden, "redis"), "redis")).not.toMatchObject({ state: "ok" });
  });

  test("files: openat2 passes the runtime's seccomp profile", async () => {
    expect(await release.exec("node", "-e", OPENAT2)).toBe("opened\n");
  });

  test("files: of the node nothing but its control groups is mounted", async () => {
    const mounts = mountsOf(await pidOf(await release.ready()));
    expect(mounts.some(([, , , root]) => root?.includes("containerd.sock"))).toBe(false);
    expect(
      mounts.some(([, , , , point]) => point?.startsWith("/host") && !point.startsWith("/host/sys/fs/cgroup")),
    ).toBe(false);
  });

  test("namespaces: one capability more reaches what listens on loopback only", async () => {
    await change({ tier: "namespaces" });
    await expectRights(SYS_PTRACE | DAC_READ_SEARCH | SYS_ADMIN, 0);
    const frame = await whole(loopback, (one) => feature(container(one, "redis"), "redis") !== undefined);
    expect(feature(container(frame, "redis"), "redis")).toMatchObject({ state: "ok" });
    expect(container(frame, "redis").problems).toEqual([]);
  });

  test("trawl explain answers inside the agent's container", async () => {
    const text = await release.exec("trawl", "explain", "pod", at);
    expect(text).toContain(at);
    expect(text).toContain("containerd");
  });

  test("when the release goes its agent ends by itself, and nothing of it stays", async () => {
    const pid = await pidOf(await release.ready());
    await release[Symbol.asyncDispose]();
    await waitFor("the agent to end", () => {
      try {
        return !readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("node");
      } catch {
        return true;
      }
    });
    const { stdout } = await kubectl(["get", "clusterrole,clusterrolebinding", "-o", "name"]);
    expect(stdout).not.toContain("agent-trawler");
  });
});
