import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Access, FileSystemAccess, Workload } from "@trawler/plugin-api";
import { fakeContext, fakeHost, fakeWorkload, modeContract } from "@trawler/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import mode from "../src/index.ts";

const host: Workload = fakeWorkload({
  kind: "host",
  id: "node-a",
  name: "node-a",
  handle: { pid: 1 },
  containers: [],
  resource: { "host.name": "node-a", "host.arch": "amd64", "os.description": "Linux 6.12" },
});

const FILES: Readonly<Record<string, string>> = {
  "etc/os-release": "ID=debian\n",
  "etc/passwd": "root:x:0:0\n",
  "var/lib/a/b": "x",
};

function root(files: Readonly<Record<string, string>> = FILES): string {
  const folder = mkdtempSync(join(tmpdir(), "trawler-mountpoint-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function open(path: string | readonly string[], alias = "/"): Promise<Pick<Access, "fs" | "meta">> {
  const instance = await mode.create(
    typeof path === "string" ? { path, alias } : { layers: [...path], alias },
    fakeHost(),
  );
  const [workload = host] = instance.subjects?.(host) ?? [];
  const subject = await instance.open(workload, fakeContext());
  onTestFinished(() => subject[Symbol.asyncDispose]());
  const { fs, meta } = subject.access;
  if (fs === undefined || meta === undefined) throw new Error("it lacks what it declares");
  return { fs, meta };
}

async function walked(fs: FileSystemAccess, from = "/", exclude: readonly string[] = []): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const batch of fs.walk(from, { exclude })) paths.push(...batch.map(({ path }) => path));
  return paths;
}

describe("contract", () => {
  const world = async () => {
    const path = mkdtempSync(join(tmpdir(), "trawler-mountpoint-"));
    return {
      workload: host,
      config: { path },
      async [Symbol.asyncDispose]() {
        rmSync(path, { recursive: true });
      },
    };
  };
  for (const { name, run } of modeContract(mode, { world, config: { path: "/" } })) test(name, run);
});

test("004: paths are reported from the folder, which is a subject of its own", async () => {
  const path = root();
  const { fs, meta } = await open(path);
  expect(await walked(fs)).toEqual([
    "/etc",
    "/etc/os-release",
    "/etc/passwd",
    "/var",
    "/var/lib",
    "/var/lib/a",
    "/var/lib/a/b",
  ]);
  expect(await fs.readText("/etc/os-release")).toBe("ID=debian\n");
  expect(meta.workload).toMatchObject({ id: `node-a:${path}`, handle: {} });
  expect(meta.workload.resource).toEqual({ "host.name": "node-a", "trawler.mountpoint.path": path });
});

test("parity P32: no path leaves the folder, by dots or by links", async () => {
  const path = root();
  writeFileSync(join(dirname(path), "outside"), "outside");
  onTestFinished(() => rmSync(join(dirname(path), "outside")));
  symlinkSync("../../outside", join(path, "etc/up"));
  symlinkSync(join(dirname(path), "outside"), join(path, "etc/absolute"));
  symlinkSync("/etc/passwd", join(path, "etc/inside"));
  const { fs } = await open(path);
  for (const away of ["/../outside", "/etc/../../outside", "/etc/up", "/etc/absolute"]) {
    await expect(fs.readText(away), away).rejects.toMatchObject({ code: "TRAWLER_UNSUPPORTED" });
  }
  expect(await fs.readText("/etc/inside")).toBe("root:x:0:0\n");
});

test("parity P9: where the folder stands in the reported paths is a setting", async () => {
  const { fs } = await open(root({ ric_config: "x", "ssh/sshd_config": "y", "ssh/keys": "z" }), "/etc");
  expect(await fs.readText("/etc/ric_config")).toBe("x");
  expect(await fs.stat("/etc")).toMatchObject({ path: "/etc", type: "directory" });
  expect((await fs.list("/etc/ssh")).entries.map(({ path }) => path)).toEqual([
    "/etc/ssh/keys",
    "/etc/ssh/sshd_config",
  ]);
  expect(await walked(fs, "/", ["/**/keys", "/etc/ric*", "/usr/**"])).toEqual(["/etc/ssh", "/etc/ssh/sshd_config"]);
  expect(await walked(fs, "/etc/ssh")).toEqual(["/etc/ssh/keys", "/etc/ssh/sshd_config"]);
  expect((await fs.digest("/etc/ric_config", { algorithm: "md5" })).size).toBe(1);
  expect((await fs.fileSystems()).fileSystems[0]?.mountPoint).toBe("/etc");
  await expect(fs.readText("/usr/lib/os-release")).rejects.toMatchObject({ code: "TRAWLER_UNSUPPORTED" });
  await expect(walked(fs, "/usr")).rejects.toMatchObject({ code: "TRAWLER_UNSUPPORTED" });
});

test("the layers of a container that does not run are its root", async () => {
  const upper = root({ "etc/os-release": "ID=changed\n" });
  const { fs, meta } = await open([upper, root()]);
  expect(await fs.readText("/etc/os-release")).toBe("ID=changed\n");
  expect(await fs.readText("/etc/passwd")).toBe("root:x:0:0\n");
  expect(meta.workload.id).toBe(`node-a:${upper}`);
});

test("either a folder or layers are named", async () => {
  for (const settings of [{}, { path: "/", layers: ["/"] }, { layers: [] }, { path: "/a/../b" }]) {
    expect(mode.config.safeParse(settings).success).toBe(false);
  }
});

test("a folder that is not there is told when the agent starts", async () => {
  await expect(async () => mode.create({ path: "/no/such/folder", alias: "/" }, fakeHost())).rejects.toMatchObject({
    code: "TRAWLER_CONFIG_INVALID",
  });
});

const reason = process.getuid?.() === 0 ? null : "not root: no image can be mounted";

test.skipIf(reason !== null)("003: the root of an image is read like any other", async () => {
  const path = root({});
  const image = join(dirname(path), `${path.split("/").at(-1)}.img`);
  onTestFinished(() => rmSync(image, { force: true }));
  execFileSync("truncate", ["-s", "4M", image]);
  execFileSync("mkfs.ext4", ["-q", "-d", root(), image]);
  try {
    execFileSync("mount", ["-o", "loop,ro", image, path], { stdio: "pipe" });
  } catch {
    // A machine without loop devices, as a container is.
    return;
  }
  onTestFinished(() => void execFileSync("umount", [path]));
  const { fs } = await open(path);
  expect(await fs.readText("/etc/os-release")).toBe("ID=debian\n");
  expect((await fs.fileSystems()).fileSystems).toMatchObject([{ mountPoint: "/", type: "ext4" }]);
});
