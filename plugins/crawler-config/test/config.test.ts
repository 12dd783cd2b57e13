import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type FileSystemAccess, TrawlerError } from "@trawler/plugin-api";
import { crawlAlone, folderFs } from "@trawler/testkit";
import { expect, onTestFinished, test } from "vitest";
import config from "../src/index.ts";

function root(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "trawler-config-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) put(folder, path, text);
  return folder;
}

function put(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

async function crawl(fs: FileSystemAccess, settings: object = {}) {
  const { features, problems } = await crawlAlone(config, { access: { fs }, config: settings });
  return { files: features.map(({ key }) => key), values: features.map(({ value }) => Object(value)), problems };
}

test("parity P6: known files with their content, and those that are found by their names", async () => {
  const fs = folderFs(root({ "etc/file1": "content", file2: "x", "file3.conf": "y" }));
  const known = await crawl(fs, { files: ["/etc/file1"] });
  expect([known.files, known.values[0].content]).toEqual([["/etc/file1"], "content"]);
  expect((await crawl(fs, { files: ["/etc/file1"], discover: true })).files).toEqual(["/etc/file1", "/file3.conf"]);
});

test("parity P7: a second crawl, and a second container, give the same", async () => {
  const [one, two] = [0, 0].map(() => folderFs(root({ "etc/passwd": "root:x:0:0\n", "etc/hosts": "::1 localhost\n" })));
  for (const fs of [one, one, two]) {
    expect((await crawl(fs ?? never())).files).toEqual(["/etc/passwd", "/etc/hosts"]);
  }
});

test("parity P8: /etc/mtab is reported by its own name, wherever it leads", async () => {
  const folder = root({ "run/mounts": "/dev/sda1 / ext4 rw 0 0\n" });
  mkdirSync(join(folder, "etc"));
  symlinkSync("../run/mounts", join(folder, "etc/mtab"));
  const inside = await crawl(folderFs(folder));
  expect(inside.values).toMatchObject([{ path: "/etc/mtab", linkTarget: "../run/mounts", content: /ext4/ }]);
  const fs = folderFs(folder);
  const read = async () =>
    Promise.reject(new TrawlerError("TRAWLER_REFUSED", "on a file system that is not read (proc)"));
  const proc = await crawl({ ...fs, read, digest: read });
  expect(proc.values).toMatchObject([{ path: "/etc/mtab", content: null }]);
  expect(proc.problems).toEqual([]);
});

test("parity P9: a known file of one's own is read, and nothing else", async () => {
  const { files, values } = await crawl(folderFs(root({ "etc2/ric_config": "x", "etc2/other": "y" })), {
    files: ["/etc2/ric_config"],
  });
  expect([files, values[0].name]).toEqual([["/etc2/ric_config"], "ric_config"]);
});

test("097: globs name files, each is read once", async () => {
  const fs = folderFs(root({ "etc/a/x.conf": "", "etc/a/b/y.conf": "", "etc/a/z.txt": "", "srv/q.conf": "" }));
  const { files } = await crawl(fs, { files: ["/etc/a/x.conf", "/etc/a/*.conf", "/etc/**/*.conf", "/*/z?.conf"] });
  expect(files).toEqual(["/etc/a/x.conf", "/etc/a/b/y.conf"]);
});

test("what is secret does not leave the crawler, and the feature says so", async () => {
  const { values } = await crawl(folderFs(root({ "etc/my.cnf": "[client]\npassword = hunter2\n" })));
  expect(values).toMatchObject([{ content: "[client]\npassword = [redacted]\n", redacted: true }]);
});

test("content is bounded, at a whole character; too many files are cut; both are told", async () => {
  const fs = folderFs(root({ "etc/hosts": "ää", "etc/passwd": "p" }));
  const cut = await crawl(fs, { files: ["/etc/hosts"], maxBytes: 3 });
  expect(cut.values).toMatchObject([{ content: "ä", truncated: true, "file.size": 4 }]);
  const one = await crawl(fs, { maxFiles: 1 });
  expect([one.files.length, one.problems]).toEqual([1, [expect.stringContaining("truncated")]]);
});

test("what is no text, or leads nowhere, has no content", async () => {
  const folder = root({ "etc/hostname": "\0\0\0" });
  symlinkSync("/nowhere", join(folder, "etc/hosts"));
  const { files, values } = await crawl(folderFs(folder));
  expect(files).toEqual(["/etc/hosts", "/etc/hostname"]);
  expect(values.map(({ content }) => content)).toEqual([null, null]);
});

test("a denied file is told, and the others are read", async () => {
  const fs = folderFs(root({ "etc/hosts": "x", "etc/sudoers": "y" }));
  const read: FileSystemAccess["read"] = async (path, options) => {
    if (path === "/etc/sudoers") throw new TrawlerError("TRAWLER_DENIED", "/etc/sudoers: access denied");
    return fs.read(path, options);
  };
  const { files, problems } = await crawl({ ...fs, read });
  expect(files).toEqual(["/etc/hosts", "/etc/sudoers"]);
  expect(problems).toEqual(["denied /etc/sudoers: access denied"]);
});

test("unchanged files are not read again; a change behind a link is seen", async () => {
  const folder = root({ "etc/hosts": "x", "config/nginx.conf": "one" });
  mkdirSync(join(folder, "etc/nginx"));
  symlinkSync("../../config/nginx.conf", join(folder, "etc/nginx/nginx.conf"));
  const fs = folderFs(folder);
  const said: string[] = [];
  const ask = async (last: string | null): Promise<number> => {
    const unchanged = (text: string): boolean => {
      said.push(text);
      return text === last;
    };
    const { features } = await crawlAlone(config, { access: { fs }, context: { unchanged, fingerprint: last } });
    return features.length;
  };
  expect(await ask(null)).toBe(2);
  expect(await ask(said[0] ?? "")).toBe(0);
  writeFileSync(join(folder, "config/nginx.conf"), "two");
  utimesSync(join(folder, "config/nginx.conf"), 0, 0);
  expect(await ask(said[0] ?? "")).toBe(2);
});

function never(): never {
  throw new Error("no file system");
}
