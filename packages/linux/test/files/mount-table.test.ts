import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mountsBelow } from "../../src/files/mount-table.ts";
import { openFileSystem, openHostFileSystem, parseMountinfo } from "../../src/index.ts";
import { Child } from "./child.ts";

const MOUNTINFO = `20 1 254:0 / / rw,relatime - ext4 /dev/vda rw
21 20 254:16 / /host ro,nosuid - ext4 /dev/vdb ro
22 21 0:30 / /host/data rw - tmpfs tmpfs rw
23 20 0:31 / /hosted rw - tmpfs tmpfs rw
`;

test("of a folder's mounts those at and below it are listed, from it", () => {
  const points = (folder: string, holder: number): readonly string[] =>
    mountsBelow(parseMountinfo(MOUNTINFO), folder, holder).map(({ mountPoint, device }) => `${mountPoint} ${device}`);
  expect(points("/host", 21)).toEqual(["/ 254:16", "/data 0:30"]);
  expect(points("/host/data/a", 22)).toEqual(["/ 0:30"]);
  expect(points("/", 20)).toEqual(["/ 254:0", "/host 254:16", "/host/data 0:30", "/hosted 0:31"]);
});

test("the file systems of the host are those of statfs; what the kernel makes up has no figures", async () => {
  await using files = await openHostFileSystem("/");
  const { fileSystems, truncated } = await files.fileSystems();
  expect(truncated).toBe(false);
  const proc = fileSystems.find(({ mountPoint }) => mountPoint === "/proc");
  expect(proc).toMatchObject({ type: "proc", size: null, free: null, inodes: null });
  const shm = fileSystems.find(({ mountPoint }) => mountPoint === "/dev/shm");
  if (shm === undefined) return;
  const { blocks, bsize } = statfsSync("/dev/shm");
  expect(shm).toMatchObject({ type: "tmpfs", size: blocks * bsize });
});

test("a folder that is no mount point has the file system that holds it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trawler-mounts-"));
  try {
    await using files = await openHostFileSystem(folder);
    const { blocks, bsize } = statfsSync(folder);
    expect((await files.fileSystems()).fileSystems).toMatchObject([{ mountPoint: "/", size: blocks * bsize }]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const reason = process.getuid?.() === 0 ? null : "not root: nothing can be mounted";

test.skipIf(reason !== null)("the root of a process of another mount namespace is read with its mounts", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trawler-mounts-"));
  const script = `mount -t tmpfs -o size=1m theirs ${folder} && echo theirs > ${folder}/file && echo ready && read line`;
  const member = await Child.start("unshare", ["--mount", "--propagation", "private", "sh", "-c", script]);
  try {
    await using files = await openHostFileSystem(`/proc/${member.pid}/root`);
    expect(await files.readText(`${folder}/file`)).toBe("theirs\n");
    const { fileSystems } = await files.fileSystems();
    expect(fileSystems.find(({ mountPoint }) => mountPoint === folder)).toMatchObject({ device: "theirs" });
  } finally {
    await member[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  }
});

test.skipIf(reason !== null)("of two mounts at one place the upper one counts, with its own options", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trawler-mounts-"));
  mkdirSync(join(folder, "twice"));
  const script = `mount -t tmpfs -o size=1m one ${folder}/twice && mount -t tmpfs -o size=2m,ro two ${folder}/twice && echo ready && read line`;
  const member = await Child.start("unshare", ["--mount", "--propagation", "private", "sh", "-c", script]);
  try {
    await using files = await openFileSystem({ pid: member.pid, procRoot: "/proc", allowNodeRoot: true });
    const { fileSystems } = await files.fileSystems();
    const twice = fileSystems.filter(({ mountPoint }) => mountPoint === `${folder}/twice`);
    expect(twice).toMatchObject([{ device: "two", size: 2 * 1024 * 1024, type: "tmpfs" }]);
    expect(twice[0]?.options).toContain("ro");
    await using below = await openHostFileSystem(`/proc/${member.pid}/root${folder}/twice/`);
    expect((await below.fileSystems()).fileSystems).toMatchObject([{ device: "two", mountPoint: "/", size: 2097152 }]);
  } finally {
    await member[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  }
});
