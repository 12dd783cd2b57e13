import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Container, NodeInfo, Workload } from "@trawler/plugin-api";
import { fakeContainer, fakeContext, fakeHost, fakeNode, fakeWorkload, modeContract } from "@trawler/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import mode from "../src/index.ts";
import { containerSubjects } from "../src/subjects.ts";

const FIXTURE = join(import.meta.dirname, "../../../test/fixtures/linux/cgroup1-vm-6.1.tgz");
let folder: string;
let paths: NodeInfo["paths"];
let workload: Workload;
let usage: number;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-container-"));
  execFileSync("tar", ["-xzf", FIXTURE, "-C", folder, "--wildcards", "sample2/*", "meta/*"]);
  const root = join(folder, "sample2");
  paths = { root, proc: join(root, "proc"), cgroup: join(root, "sys/fs/cgroup") };
  const lines = readFileSync(join(folder, "meta/expected.tsv"), "utf8").split("\n");
  const [, , , , cgroup = "", , , , bytes] =
    lines.map((line) => line.split("\t")).find((row) => row[2] === "redis") ?? [];
  usage = Number(bytes);
  const id = /[0-9a-f]{64}/.exec(cgroup)?.[0] ?? "";
  const pid = Number(readFileSync(join(paths.cgroup, "memory", cgroup, "cgroup.procs"), "utf8").split("\n")[0]);
  const handle = { pid, containerId: id };
  const container = fakeContainer({ name: "redis", id, handle });
  workload = fakeWorkload({ kind: "container", id, name: "redis", handle, containers: [container] });
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

const host = () => ({ node: { ...fakeNode, paths } });
const terminated = (container: Container): Container => ({
  ...container,
  state: { ...container.state, status: "terminated", exitCode: 0 },
});

/** Descriptors of this process that point into the unpacked tree. */
const openFiles = (): number =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false; // The listing's own descriptor has gone by now.
    }
  }).length;

describe("contract", () => {
  const world = async () => ({
    host: host(),
    workload,
    ended: { ...workload, lifecycle: "ended" as const, containers: workload.containers.map(terminated) },
    gone: { ...workload, id: "0".repeat(64), handle: { pid: 999_999, containerId: "0".repeat(64) } },
  });
  // The cases are listed before the tree is unpacked: each makes its world when it runs.
  for (const { name, run } of modeContract(mode, { world })) test(name, run, 60_000);
});

describe("a container on v1", () => {
  const open = async (of: Workload) => (await mode.create({}, fakeHost(host()))).open(of, fakeContext());

  test("has its own figures, processes and files, and is its own `meta`", async () => {
    await using subject = await open(workload);
    const { cgroup, proc, net, fs, meta } = subject.access;
    expect(subject.members.size).toBe(0);
    expect((await cgroup?.memory())?.usage).toBe(usage);
    expect((await proc?.commands())?.map(({ command }) => command)).toContain("redis-server");
    expect((await net?.interfaces())?.map(({ name }) => name)).toEqual(["eth0"]);
    expect(fs).toBeDefined();
    expect(meta).toEqual({ workload, container: workload.containers[0] });
  });

  test("what an update opens while the subject is being closed is closed too", async () => {
    const before = openFiles();
    const subject = await open(workload);
    const again = { ...workload, handle: { ...workload.handle, pid: 999_999 } };
    const following = subject.update(again, fakeContext());
    await subject[Symbol.asyncDispose]();
    await following;
    // A closed subject opens nothing anew, whoever still asks it.
    await subject.access.cgroup?.memory().catch(() => undefined);
    expect(openFiles()).toBe(before);
  });

  test("started again under its id, it is opened again; what has gone says so", async () => {
    await using subject = await open(workload);
    await subject.update({ ...workload, handle: { ...workload.handle, pid: 999_999 } }, fakeContext());
    expect((await subject.access.cgroup?.memory())?.usage).toBe(usage);
    await using gone = await open({ ...workload, handle: { containerId: "0".repeat(64) } });
    await expect(gone.access.cgroup?.memory()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
    await expect(gone.access.proc?.processes()).rejects.toMatchObject({ code: "TRAWLER_GONE" });
    await expect(gone.access.fs?.stat("/")).rejects.toMatchObject({ code: "TRAWLER_GONE" });
  });
});

describe("subjects", () => {
  test("a container is its own; a pod makes one of each that the runtime has, the sandbox none", () => {
    expect(containerSubjects(fakeWorkload({ kind: "container" }))).toHaveLength(1);
    const ended = terminated(fakeContainer({ name: "job", id: "e".repeat(64) }));
    const pod = fakeWorkload({
      containers: [fakeContainer(), ended, fakeContainer({ name: "declared", id: null })],
      sandbox: { id: "f".repeat(64), handle: {}, hostNetwork: false },
    });
    const subjects = containerSubjects(pod);
    expect(subjects).toMatchObject([
      {
        kind: "container",
        id: "c".repeat(64),
        name: "shop/cart-0/app",
        lifecycle: "running",
        containers: [{ name: "app" }],
      },
      { kind: "container", id: "e".repeat(64), name: "shop/cart-0/job", lifecycle: "ended" },
    ]);
    expect(subjects[0]?.resource).toMatchObject({ "k8s.pod.name": "cart-0", "container.id": "c".repeat(64) });
  });
});
