import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type FileSystemAccess, TrawlerError } from "@trawler/plugin-api";
import { crawlAlone, folderFs } from "@trawler/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import crawler from "../src/index.ts";
import { parsePackage } from "../src/parse.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "trawler-node-"));
});
afterEach(() => rm(root, { recursive: true }));

async function put(path: string, content: object): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), JSON.stringify(content));
}
const crawl = (fs: FileSystemAccess = folderFs(root), config: object = {}, context: object = {}) =>
  crawlAlone(crawler, { access: { fs }, config, context });

test("parity P26: packages of the image and of applications, scoped ones too", async () => {
  await put("usr/local/lib/node_modules/npm/package.json", { name: "npm", version: "6.4.1" });
  await put("usr/local/lib/node_modules/@a/b/package.json", { name: "@a/b", version: "1.0.0" });
  const { features } = await crawl();
  expect(features.map(({ value }) => (value as { name: string }).name)).toEqual(["npm", "@a/b"]);
});

test("links in circles and folders without an end are bounded", async () => {
  await put("app/node_modules/a/package.json", { name: "a", version: "1.0.0" });
  await symlink("..", join(root, "app/node_modules/a/node_modules"));
  await symlink(".", join(root, "app/node_modules/@loop"));
  await symlink(".", join(root, "app/node_modules/.pnpm"));
  const { features, problems } = await crawl();
  expect(features.length).toBeLessThan(100);
  expect(problems.length).toBeLessThanOrEqual(1);
});

test("folders without an end are bounded, though none of them is a package", async () => {
  await mkdir(join(root, "app/node_modules"), { recursive: true });
  const list: FileSystemAccess["list"] = async (path) => ({
    entries: Array.from({ length: 50 }, (_, index) => ({ path: `${path}/p${index}`, type: "directory" as const })),
    truncated: false,
  });
  const found = await crawl({ ...folderFs(root), list });
  expect(found.features).toEqual([]);
  expect(found.problems).toContainEqual(expect.stringContaining("more folders, or deeper ones, than are read"));
});

test("an installation is noticed by what the installer writes last, and nothing is read without one", async () => {
  await put("app/node_modules/a/package.json", { name: "a", version: "1.0.0" });
  await put("app/node_modules/.package-lock.json", { lockfileVersion: 3 });
  let fingerprint = "";
  const unchanged = (text: string) => {
    fingerprint = text;
    return false;
  };
  expect((await crawl(undefined, {}, { unchanged })).features).toHaveLength(1);
  const unread = async (): Promise<never> => {
    throw new TrawlerError("TRAWLER_GONE", "is read");
  };
  const fs = { ...folderFs(root), readText: unread };
  expect((await crawl(fs, {}, { fingerprint })).features).toEqual([]);
  await put("app/node_modules/.package-lock.json", { lockfileVersion: 3, packages: {} });
  await expect(crawl(fs, {}, { fingerprint })).rejects.toThrow("is read");
});

test("more packages than wanted are cut and said so", async () => {
  for (const name of ["a", "b", "c"]) await put(`app/node_modules/${name}/package.json`, { name, version: "1" });
  const { features, problems } = await crawl(undefined, { max: 2 });
  expect(features).toHaveLength(2);
  expect(problems).toEqual(["truncated more than 2 packages"]);
});

test("a package.json is a package where it has a name and a version", () => {
  const table = [
    ['{"name":"a","version":"1","license":"MIT"}', { name: "a", version: "1", license: "MIT" }],
    ['\uFEFF{"name":"a","version":"1","license":{"type":"MIT"}}', { name: "a", version: "1", license: "MIT" }],
    ['{"name":"a","version":1}', null],
    ['{"type":"module"}', null],
    ['{"__proto__":{"name":"a","version":"1"}}', null],
    ["[]", null],
    ["null", null],
    ["{", null],
    [`${"[".repeat(100_000)}`, null],
  ] as const;
  for (const [text, expected] of table) expect(parsePackage(text), text.slice(0, 60)).toEqual(expected);
});
