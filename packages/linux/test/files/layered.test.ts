import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { errorCode, type FileStatus, type FileSystemAccess } from "@trawler/plugin-api";
import { expect, onTestFinished, test } from "vitest";
import { LayeredFileSystem, openHostFileSystem } from "../../src/index.ts";

function folder(files: Readonly<Record<string, string>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), "trawler-layer-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
}

async function layered(...folders: readonly string[]): Promise<LayeredFileSystem> {
  const files = new LayeredFileSystem(await Promise.all(folders.map((path) => openHostFileSystem(path))));
  onTestFinished(() => files[Symbol.asyncDispose]());
  return files;
}

async function walked(fs: FileSystemAccess, path = "/"): Promise<readonly string[]> {
  const lines: string[] = [];
  const line = ({ path: at, type, size, mode, userId, link }: FileStatus): string =>
    `${at} ${type} ${type === "directory" ? "" : size} ${mode.toString(8)} ${userId} ${link ?? ""}`;
  for await (const batch of fs.walk(path)) lines.push(...batch.map(line));
  return lines;
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error) => errorCode(error) ?? "",
  );

test("the uppermost layer's file counts, folders are merged, links are resolved in the union", async () => {
  const upper = folder({ "etc/new": "upper", "etc/both": "upper" });
  const lower = folder({ "etc/both": "lower", "usr/lib/os-release": "ID=lower\n", "etc/old": "lower" });
  symlinkSync("../usr/lib/os-release", join(upper, "etc/os-release"));
  symlinkSync("/etc/new", join(lower, "usr/absolute"));
  symlinkSync("../../../../etc/passwd", join(lower, "usr/away"));
  symlinkSync("loop", join(lower, "loop"));
  const files = await layered(upper, lower);
  expect((await files.list("/etc")).entries.map(({ path }) => path)).toEqual([
    "/etc/both",
    "/etc/new",
    "/etc/old",
    "/etc/os-release",
  ]);
  expect(await files.readText("/etc/both")).toBe("upper");
  expect(await files.readText("/etc/os-release")).toBe("ID=lower\n");
  expect(await files.readText("/usr/../usr/absolute")).toBe("upper");
  expect((await files.digest("/etc/old", { algorithm: "md5" })).size).toBe(5);
  expect(await files.stat("/usr/absolute")).toMatchObject({ type: "symlink", link: "/etc/new" });
  for (const path of ["/usr/away", "/etc/none", "/etc/both/x"]) {
    expect(await codeOf(files.readText(path)), path).toBe("TRAWLER_UNSUPPORTED");
  }
  expect(await codeOf(files.readText("/loop"))).toBe("TRAWLER_REFUSED");
  expect(await codeOf(files.readText("/etc"))).toBe("TRAWLER_REFUSED");
});

test("a walk is bounded in entries and depth, and leaves out what is excluded", async () => {
  const files = await layered(folder({ "a/b/c": "", "a/d": "" }), folder({ "a/b/e": "", f: "" }));
  expect((await walked(files)).map((line) => line.split(" ")[0])).toEqual([
    "/a",
    "/a/b",
    "/a/b/c",
    "/a/b/e",
    "/a/d",
    "/f",
  ]);
  const paths: string[] = [];
  for await (const batch of files.walk("/", { exclude: ["/a/b"] })) paths.push(...batch.map(({ path }) => path));
  expect(paths).toEqual(["/a", "/a/d", "/f"]);
  const few = async (options: object): Promise<void> => {
    for await (const batch of files.walk("/", options)) expect(batch.length).toBeLessThanOrEqual(2);
  };
  expect(await codeOf(few({ maxEntries: 2 }))).toBe("TRAWLER_LIMIT");
  expect(await codeOf(few({ maxDepth: 1 }))).toBe("TRAWLER_LIMIT");
});

const reason = process.getuid?.() === 0 ? null : "not root: no overlay can be mounted";

test.skipIf(reason !== null)("the union is the same that overlayfs mounts, whatever was done in it", async () => {
  const lower = folder({
    keep: "1",
    gone: "2",
    "dir/gone": "3",
    "dir/keep": "4",
    "replaced/old": "5",
    file: "6",
    "tree/x": "7",
  });
  const middle = folder({ "dir/middle": "8", "tree/y": "9" });
  const base = folder();
  for (const name of ["upper", "work", "merged"]) mkdirSync(join(base, name));
  const merged = join(base, "merged");
  const options = `lowerdir=${middle}:${lower},upperdir=${join(base, "upper")},workdir=${join(base, "work")},redirect_dir=off`;
  try {
    execFileSync("mount", ["-t", "overlay", "overlay", "-o", options, merged], { stdio: "pipe" });
  } catch {
    // A kernel without overlayfs, or a container that may not mount.
    return;
  }
  onTestFinished(() => void execFileSync("umount", [merged]));
  const script = `rm gone dir/gone && rm -r replaced && mkdir replaced && echo new > replaced/new && rm file && mkdir file \
    && echo in > file/in && rm -r tree && echo now-a-file > tree && chmod 600 keep && chown 12 dir/keep && ln -s keep link`;
  execFileSync("sh", ["-c", script], { cwd: merged });
  await using mounted = await openHostFileSystem(merged);
  const union = await layered(join(base, "upper"), middle, lower);
  expect(await walked(union)).toEqual(await walked(mounted));
  expect(await union.readText("/replaced/new")).toBe("new\n");
  for (const path of ["/gone", "/dir/gone", "/replaced/old", "/tree/x"]) {
    expect(await codeOf(union.readText(path)), path).toBe("TRAWLER_UNSUPPORTED");
  }
});
