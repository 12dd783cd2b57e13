import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { errorCode } from "@trawler/plugin-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseIdentity } from "../../src/files/pid.ts";
import { openFileSystem } from "../../src/index.ts";
import { Child } from "./child.ts";

const procRoot = "/proc";
const reason = process.getuid?.() === 0 ? null : "not root: no mount namespace can be made";
const fuse = existsSync("/dev/fuse");
const MEMBER = fileURLToPath(new URL("./member.mjs", import.meta.url));

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (error) {
    return errorCode(error) ?? "uncoded";
  }
}

function startTicks(pid: number): number {
  return parseIdentity(readFileSync(`/proc/${pid}/stat`, "utf8"))?.startTicks ?? -1;
}

test("a pid that no process has, or another one has, is gone", async () => {
  expect(await codeOf(openFileSystem({ pid: 2 ** 30, procRoot }))).toBe("TRAWLER_GONE");
  expect(await codeOf(openFileSystem({ pid: 0, procRoot }))).toBe("TRAWLER_GONE");
  expect(await codeOf(openFileSystem({ pid: process.pid, procRoot, startTicks: 1 }))).toBe("TRAWLER_GONE");
});

describe.skipIf(reason !== null)(`the root of a process${reason === null ? "" : ` (skipped: ${reason})`}`, () => {
  let root: string;
  let member: Child;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "trawler-member-"));
    mkdirSync(join(root, "etc"));
    writeFileSync(join(root, "etc/os-release"), "ID=member\n");
    symlinkSync("/volume/file", join(root, "to-volume"));
    symlinkSync("/proc/self/environ", join(root, "to-environ"));
    symlinkSync("/proc/1/root/etc/hostname", join(root, "to-node"));
    const wishes = ["tmpfs:volume", "proc:proc", "sysfs:sys", "file:bound", ...(fuse ? ["fuse:dead"] : [])];
    const args = ["--mount", "--propagation", "private", process.execPath, MEMBER, root, ...wishes];
    member = await Child.start("unshare", args);
  }, 30_000);

  afterAll(async () => {
    await member[Symbol.asyncDispose]();
    rmSync(root, { recursive: true, force: true });
  });

  for (const resolver of ["openat2", "walk"] as const) {
    test(`${resolver}: reads the member's own files, its volumes and its bound files`, async () => {
      await using files = await openFileSystem({
        pid: member.pid,
        procRoot,
        startTicks: startTicks(member.pid),
        resolver,
      });
      expect(await files.readText("/etc/os-release")).toBe("ID=member\n");
      expect(await files.readText("/bound")).toBe("ID=member\n");
      expect(await files.readText("/volume/file")).toBe("on a volume");
      expect(await files.readText("/volume/../to-volume")).toBe("on a volume");
      expect((await files.list("/volume")).entries).toEqual([{ path: "/volume/file", type: "file" }]);
    });

    test(`${resolver}: C79, C87: never reads what the kernel makes up, by path or by link`, async () => {
      await using files = await openFileSystem({ pid: member.pid, procRoot, resolver });
      const paths = ["/proc/self/environ", "/proc/1/root/etc/hostname", "/sys/kernel/notes", "/to-environ", "/to-node"];
      for (const path of paths) expect(await codeOf(files.readText(path)), path).toBe("TRAWLER_REFUSED");
      expect(await codeOf(files.list("/proc"))).toBe("TRAWLER_REFUSED");
      expect(await codeOf(files.stat("/proc/self"))).toBe("TRAWLER_REFUSED");
    });

    test.skipIf(!fuse)(`${resolver}: C82: a file system that never answers is refused, not waited for`, async () => {
      await using files = await openFileSystem({ pid: member.pid, procRoot, resolver });
      for (const path of ["/dead", "/dead/x", "/volume/../dead/x"]) {
        expect(await codeOf(files.stat(path)), path).toBe("TRAWLER_REFUSED");
        expect(await codeOf(files.readText(path)), path).toBe("TRAWLER_REFUSED");
      }
      expect((await files.list("/")).entries.map((entry) => entry.path)).toContain("/dead");
    });

    test(`${resolver}: a walk stays on the file system where it began`, async () => {
      await using files = await openFileSystem({ pid: member.pid, procRoot, resolver });
      const paths: string[] = [];
      for await (const batch of files.walk("/")) for (const status of batch) paths.push(status.path);
      expect(paths).toContain("/etc/os-release");
      expect(paths.filter((path) => /^\/(proc|sys|volume|dead|bound)/.test(path))).toEqual([]);
    });
  }

  test("the node's own root is refused unless it is meant", async () => {
    expect(await codeOf(openFileSystem({ pid: process.pid, procRoot }))).toBe("TRAWLER_REFUSED");
    await using files = await openFileSystem({ pid: process.pid, procRoot, allowNodeRoot: true });
    expect((await files.stat("/")).type).toBe("directory");
  });

  test("once the process has ended every call says gone, and nothing stays open", async () => {
    const before = readdirSync("/proc/self/fd").length;
    const short = await Child.start("unshare", ["--mount", process.execPath, MEMBER, root]);
    const files = await openFileSystem({ pid: short.pid, procRoot });
    expect(await files.readText("/etc/os-release")).toBe("ID=member\n");
    await short[Symbol.asyncDispose]();
    expect(await codeOf(files.readText("/etc/os-release"))).toBe("TRAWLER_GONE");
    expect(await codeOf(files.list("/"))).toBe("TRAWLER_GONE");
    expect(await codeOf(openFileSystem({ pid: short.pid, procRoot }))).toBe("TRAWLER_GONE");
    await files[Symbol.asyncDispose]();
    await expect.poll(() => readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
  });
});
