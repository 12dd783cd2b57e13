import { readFileSync } from "node:fs";
import { cp, mkdtemp, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { type FileSystemAccess, TrawlerError } from "@trawler/plugin-api";
import { crawlAlone, fakeHost, folderFs } from "@trawler/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import crawler from "../src/index.ts";
import { Damaged, readDirectory } from "../src/zip.ts";

const testdata = fileURLToPath(new URL("../testdata/", import.meta.url));

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "trawler-jar-"));
});
afterEach(() => rm(root, { recursive: true }));

const crawl = (config: object = {}, context: object = {}) =>
  crawlAlone(crawler, { access: { fs: folderFs(root) }, config, context });
const jarOf = (crawled: Awaited<ReturnType<typeof crawl>>, path: string) =>
  crawled.features.find(({ key }) => key === path)?.value as Record<string, unknown> | undefined;

interface Part {
  readonly name: string;
  readonly data: Uint8Array;
  readonly method?: number;
  readonly flags?: number;
  /** What the headers claim. */
  readonly size?: number;
}

/** A zip archive of these parts, as they stand; `wide` with the records of ZIP64. */
function zip(parts: readonly Part[], wide = false): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, data, method = 0, flags = 0, size = data.length } of parts) {
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(flags, 8);
    central.writeUInt16LE(method, 10);
    central.writeUInt32LE(wide ? 0xffffffff : size, 20);
    central.writeUInt32LE(wide ? 0xffffffff : size, 24);
    central.writeUInt16LE(name.length, 28);
    central.writeUInt32LE(wide ? 0xffffffff : offset, 42);
    const extra = Buffer.alloc(wide ? 28 : 0);
    if (wide) {
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(24, 2);
      extra.writeBigUInt64LE(BigInt(size), 4);
      extra.writeBigUInt64LE(BigInt(size), 12);
      extra.writeBigUInt64LE(BigInt(offset), 20);
      central.writeUInt16LE(28, 30);
    }
    locals.push(local, Buffer.from(name), Buffer.from(data));
    centrals.push(central, Buffer.from(name), extra);
    offset += 30 + name.length + data.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(wide ? 0xffff : parts.length, 10);
  end.writeUInt32LE(wide ? 0xffffffff : directory.length, 12);
  end.writeUInt32LE(wide ? 0xffffffff : offset, 16);
  const record = Buffer.alloc(wide ? 76 : 0);
  if (wide) {
    record.writeUInt32LE(0x06064b50, 0);
    record.writeBigUInt64LE(BigInt(parts.length), 32);
    record.writeBigUInt64LE(BigInt(directory.length), 40);
    record.writeBigUInt64LE(BigInt(offset), 48);
    record.writeUInt32LE(0x07064b50, 56);
  }
  return Buffer.concat([...locals, directory, record, end]);
}

const text = (content: string): Uint8Array => new TextEncoder().encode(content);

test("parity P24: a jar has the digest of its file and of each class, in its order", async () => {
  await cp(join(testdata, "fixture/rootfs"), root, { recursive: true });
  const found = await crawl({ algorithm: "md5" });
  expect(jarOf(found, "/app/myfile.jar")).toMatchObject({
    name: "myfile.jar",
    digest: "md5:48ac85a26ffa7ff5cefdd5c73a9fb888",
    classes: 2,
    classDigests: ["ddc6eff37020aa858e26b1ba8a49ee0e", "cbe2a13eb99c1c8ac5f30d0a04f8c492"],
  });
});

test("parity P24: one archive that is damaged costs no other, and each problem names its file", async () => {
  await cp(join(testdata, "nested/rootfs"), root, { recursive: true });
  const found = await crawl();
  expect(found.problems).toEqual(["failed /srv/broken.jar: it is no zip archive"]);
  expect(found.features.map(({ key }) => key)).toEqual([
    "/srv/broken.jar",
    "/srv/cart.jar",
    "/srv/run.jar",
    "/srv/shop.war",
  ]);
  expect(jarOf(found, "/srv/shop.war")).toMatchObject({ classes: 1, archives: ["WEB-INF/lib/cart.jar"] });
  // What a script stands before is the same archive.
  const [cart, run] = ["cart", "run"].map((name) => jarOf(found, `/srv/${name}.jar`));
  expect(run?.["classesDigest"]).toBe(cart?.["classesDigest"]);
  expect(run?.["digest"]).not.toBe(cart?.["digest"]);
});

test("archives of the wide form are read alike", async () => {
  const parts = [
    { name: "a.class", data: text("a") },
    { name: "lib/b.jar", data: text("b") },
    { name: "c.class", data: new Uint8Array(deflateRawSync("c".repeat(1000))), method: 8 },
  ];
  await writeFile(join(root, "narrow.jar"), zip(parts));
  await writeFile(join(root, "wide.jar"), zip(parts, true));
  const found = await crawl();
  expect(found.problems).toEqual([]);
  const { classes, classDigests, archives } = jarOf(found, "/narrow.jar") ?? {};
  expect(jarOf(found, "/wide.jar")).toMatchObject({ classes, classDigests, archives });
  expect({ classes, archives }).toEqual({ classes: 2, archives: ["lib/b.jar"] });
});

test("bombs, encrypted classes and lying sizes are bounded and told", async () => {
  const bomb = new Uint8Array(deflateRawSync(Buffer.alloc(40 * 1_048_576)));
  await writeFile(
    join(root, "a.jar"),
    zip([
      { name: "bomb.class", data: bomb, method: 8 },
      { name: "secret.class", data: text("x"), flags: 1 },
      { name: "noise.class", data: text("no deflate"), method: 8 },
      { name: "odd.class", data: text("x"), method: 99 },
      { name: "long.class", data: text("x"), size: 4_000_000_000 },
      { name: "good.class", data: text("x") },
    ]),
  );
  const found = await crawl();
  expect(found.problems).toEqual(["truncated /a.jar: 5 of 6 classes cannot be read"]);
  const value = jarOf(found, "/a.jar");
  expect(value).toMatchObject({ classes: 6, classesDigest: null });
  expect(value?.["classDigests"]).toEqual(["", "", "", "", "", expect.stringMatching(/^[0-9a-f]{64}$/)]);
});

test("what is more than one crawl reads is listed without digests", async () => {
  await cp(join(testdata, "nested/rootfs/srv"), join(root, "srv"), { recursive: true });
  await writeFile(join(root, "srv/large.jar"), "");
  await truncate(join(root, "srv/large.jar"), 2 ** 41);
  const found = await crawl({ maxBytes: "64KiB" });
  expect(jarOf(found, "/srv/large.jar")).toMatchObject({ digest: null, classes: null, "file.size": 2 ** 41 });
  expect(found.problems).toContainEqual("truncated 3 archives were not read: together they are larger than 64KiB");
  expect((await crawl({ max: 2 })).problems).toContainEqual("truncated more than 2 archives");
});

test("unchanged archives are not read again, and a changed one is", async () => {
  await cp(join(testdata, "nested/rootfs/srv"), root, { recursive: true });
  let fingerprint = "";
  const note = (text: string) => {
    fingerprint = text;
    return false;
  };
  expect((await crawl({}, { unchanged: note })).features).toHaveLength(4);
  const fs: FileSystemAccess = {
    ...folderFs(root),
    digest: () => Promise.reject(new Error("is read")),
  };
  const again = () => crawlAlone(crawler, { access: { fs }, context: { fingerprint } });
  expect((await again()).features).toEqual([]);
  await utimes(join(root, "cart.jar"), 1, 1);
  await expect(again()).rejects.toThrow("is read");
});

test("a crawl that is cut off by its deadline goes on at the next one where it ended", async () => {
  await cp(join(testdata, "nested/rootfs/srv"), root, { recursive: true });
  const read: string[] = [];
  const files = folderFs(root);
  let late = true;
  const fs: FileSystemAccess = {
    ...files,
    digest: (path, options) => {
      read.push(path);
      return late && path === "/run.jar"
        ? Promise.reject(new TrawlerError("TRAWLER_GONE", "late"))
        : files.digest(path, options);
    },
  };
  const instance = await crawler.create(crawler.config.parse({}), fakeHost());
  const again = () => crawlAlone({ ...crawler, create: () => instance }, { access: { fs } });
  await expect(again()).rejects.toThrow("late");
  late = false;
  read.length = 0;
  const { features } = await again();
  // What was read whole is there without being read again; what was not, or is broken, is read.
  expect(features.map(({ key }) => [key, jarOf({ features, problems: [] }, key)?.["digest"] !== null])).toEqual([
    ["/broken.jar", true],
    ["/cart.jar", true],
    ["/run.jar", true],
    ["/shop.war", true],
  ]);
  expect(read).toEqual(["/broken.jar", "/run.jar", "/shop.war"]);
});

test("cut anywhere, an archive is damaged or good, never more", async () => {
  const bytes = readFileSync(join(testdata, "nested/rootfs/srv/cart.jar"));
  const limits = { maxEntries: 100, maxDirectory: 1_048_576 };
  for (let length = 0; length < bytes.length; length += 7) {
    const part = new Uint8Array(bytes.subarray(0, length));
    const readAt = async (offset: number, count: number) => part.subarray(offset, offset + count);
    await expect(readDirectory(readAt, length, limits)).rejects.toThrow(Damaged);
  }
  for (let at = 0; at < bytes.length; at += 3) {
    const part = new Uint8Array(bytes).with(at, 255);
    const readAt = async (offset: number, count: number) => part.subarray(offset, offset + count);
    const outcome = await readDirectory(readAt, part.length, limits).catch((error) => error);
    expect(outcome instanceof Damaged || outcome.entries.length <= 10).toBe(true);
  }
});
