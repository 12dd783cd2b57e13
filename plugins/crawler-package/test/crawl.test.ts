import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Feature, type FileSystemAccess, TrawlerError } from "@trawler/plugin-api";
import { fakeClock, fakeContainer, fakeContext, fakeHost, fakeWorkload, folderFs } from "@trawler/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import crawler from "../src/index.ts";
import { SAMPLE, unpacked } from "./fixture.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "trawler-package-"));
});
afterEach(() => rm(root, { recursive: true }));

async function put(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}

const status = (...names: readonly string[]) =>
  names.map((name) => `Package: ${name}\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n`).join("\n");

interface Options {
  readonly fs?: FileSystemAccess;
  readonly last?: string;
  readonly startedAt?: string;
}

async function crawl({ fs = folderFs(root), last, startedAt = "2020-01-01T00:00:00.000Z" }: Options = {}) {
  const instance = await crawler.create({ max: 100 }, fakeHost());
  const { state } = fakeContainer();
  const container = fakeContainer({ state: { ...state, startedAt } });
  const features: Feature[] = [];
  const problems: string[] = [];
  let fingerprint = "";
  const context = {
    ...fakeContext(),
    clock: fakeClock(),
    state: new Map<string, number>(),
    asked: "always",
    annotation: null,
    fingerprint: last ?? null,
    unchanged(said: string) {
      fingerprint = said;
      return said === last;
    },
    problem: (code: string, message: string) => void problems.push(`${code}: ${message}`),
  } as const;
  const meta = { workload: fakeWorkload({ containers: [container] }), container };
  for await (const feature of instance.crawl({ fs, meta }, context)) features.push(feature);
  return { features, problems, fingerprint, keys: features.map(({ type, key }) => `${type} ${key}`) };
}

/** The same files, and which of the calls were made that read them. */
function watched(): { fs: FileSystemAccess; read: string[] } {
  const read: string[] = [];
  const fs = folderFs(root);
  const noted: FileSystemAccess["read"] = (path, options) => {
    read.push(path);
    return fs.read(path, options);
  };
  return { read, fs: { ...fs, read: noted } };
}

test("an unchanged database costs a few stats and no reading", async () => {
  await put("var/lib/dpkg/status", status("a"));
  const { fingerprint } = await crawl();
  const { fs, read } = watched();
  expect((await crawl({ fs, last: fingerprint })).features).toEqual([]);
  expect(read).toEqual([]);
  // As dpkg does it: a new file takes the place of the old one.
  await put("var/lib/dpkg/status-new", status("a", "b"));
  await rename(join(root, "var/lib/dpkg/status-new"), join(root, "var/lib/dpkg/status"));
  const { keys } = await crawl({ fs, last: fingerprint });
  expect(keys).toEqual(["packageDatabase dpkg-status", "package a:all", "package b:all"]);
});

test("a container that starts anew is judged anew", async () => {
  await put("var/lib/dpkg/status", status("a"));
  await put("var/lib/dpkg/info/a.list", "/.\n");
  const first = await crawl();
  expect(first.features.map(({ value }) => (value as { drift: unknown }).drift)).toEqual([true, true]);
  const later = await crawl({ last: first.fingerprint, startedAt: "2099-01-01T00:00:00.000Z" });
  expect(later.features.map(({ value }) => (value as { drift: unknown }).drift)).toEqual([false, false]);
});

test("of a folder that is not there no file is looked for", async () => {
  await put("var/lib/dpkg/status", status("a"));
  const fs = folderFs(root);
  const asked: string[] = [];
  const { fingerprint } = await crawl();
  const watched = Object.assign(Object.create(fs), {
    stat: (path: string) => {
      asked.push(path);
      return fs.stat(path);
    },
  });
  const { features } = await crawl({ fs: watched, last: fingerprint });
  expect(features).toEqual([]);
  expect(asked.filter((path) => path.includes("rpm"))).toEqual([
    "/usr/lib/sysimage/rpm",
    "/var/lib/rpm",
    "/usr/share/rpm",
  ]);
});

test("parity O8: rpm's database is found where it is, through the links that distributions leave", async () => {
  await put("usr/lib/sysimage/rpm/rpmdb.sqlite", unpacked("rpmdb.sqlite"));
  await put("usr/lib/sysimage/rpm/rpmdb.sqlite-wal", unpacked("rpmdb.sqlite-wal"));
  await mkdir(join(root, "var/lib"), { recursive: true });
  await symlink("../../usr/lib/sysimage/rpm", join(root, "var/lib/rpm"));
  const { features, problems } = await crawl();
  expect(features[0]).toMatchObject({
    key: "rpm-sqlite",
    value: { packages: 2, path: "/usr/lib/sysimage/rpm/rpmdb.sqlite" },
  });
  expect(features.slice(1).map(({ key }) => key)).toEqual(["trawler-noarch:noarch", "trawler-sample:x86_64"]);
  expect(problems).toEqual([]);
});

test("parity O8: an old Berkeley database is read as it is", async () => {
  await put("var/lib/rpm/Packages", unpacked("Packages.little"));
  const { features } = await crawl();
  expect(features[0]).toMatchObject({ key: "rpm-berkeley", value: { packages: SAMPLE.length } });
  expect(features.find(({ key }) => key === "tiny:x86_64")?.value).toMatchObject({
    version: "2:0.9~rc1-4.el9",
    drift: true,
  });
});

test("parity O10: what one manager's database refuses costs nothing of the others", async () => {
  await put("var/lib/rpm/Packages.db", "RpmP");
  await put("lib/apk/db/installed", "P:musl\nV:1\n");
  await mkdir(join(root, "var/lib/dpkg/status"), { recursive: true });
  const { keys, problems } = await crawl();
  expect(keys).toEqual(["packageDatabase apk-installed", "packageDatabase rpm-ndb", "package musl"]);
  expect(problems).toEqual([
    "denied: /var/lib/dpkg/status: is of type directory",
    expect.stringMatching(/^failed: \/var\/lib\/rpm\/Packages.db: rpm's ndb format is not read/),
  ]);
});

test("parity O9: a database that may not be read is an error that names it; none at all is silence", async () => {
  expect(await crawl()).toMatchObject({ features: [], problems: [] });
  await put("lib/apk/db/installed", "P:musl\nV:1\n");
  const fs = folderFs(root);
  const refuse = async (path: string): Promise<never> => {
    throw new TrawlerError("TRAWLER_DENIED", `${path}: permission denied`);
  };
  const unread = await crawl({ fs: { ...fs, read: refuse } });
  expect(unread.problems).toEqual(["denied: /lib/apk/db/installed: permission denied"]);
  expect(unread.features).toMatchObject([{ value: { packages: null } }]);
  await expect(crawl({ fs: { ...fs, stat: refuse } })).rejects.toThrow("/var/lib/dpkg/status: permission denied");
});

test("links that lead in circles are refused", async () => {
  await mkdir(join(root, "var/lib/dpkg"), { recursive: true });
  await symlink("status", join(root, "var/lib/dpkg/status"));
  await expect(crawl()).rejects.toThrow("too many links");
});
