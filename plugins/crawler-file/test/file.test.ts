import { type FileStatus, type FileSystemAccess, type MetaAccess, TrawlerError } from "@trawler/plugin-api";
import { crawlAlone, fakeClock, fakeCrawlContext, fakeHost, fakeWorkload, hostileAccesses } from "@trawler/testkit";
import { expect, test } from "vitest";
import { DigestCache } from "../src/digests.ts";
import file from "../src/index.ts";

const base: FileStatus = {
  path: "/",
  type: "file",
  size: 7,
  mode: 0o644,
  userId: 3,
  groupId: 2,
  hostUserId: 100_003,
  hostGroupId: 100_002,
  modified: "2026-01-01T00:00:06.000Z",
  changed: "2026-01-01T00:00:05.000Z",
  accessed: "2026-01-01T00:00:04.000Z",
  link: null,
};

/** A file system whose walk gives these, then fails where told. */
function files(statuses: readonly Partial<FileStatus>[], failure?: Error): FileSystemAccess {
  const [absent] = hostileAccesses().filter(({ name }) => name === "absent");
  if (absent === undefined) throw new Error("no hostile access");
  return {
    ...absent.access.fs,
    stat: async (path) => ({ ...base, path, type: "directory", mode: 0o755 }),
    async *walk() {
      yield statuses.map((status) => ({ ...base, ...status }));
      if (failure) throw failure;
    },
  };
}

test("parity P3: each file has its mode, owners, times and size", async () => {
  const fs = files([{ path: "/file1" }, { path: "/dir", type: "directory", mode: 0o555 }, { path: "/dir/file4" }]);
  const { features, problems } = await crawlAlone(file, { access: { fs }, config: { accessTime: true } });
  expect(features.map(({ key }) => key)).toEqual(["/", "/file1", "/dir", "/dir/file4"]);
  expect(features[0]?.value).toMatchObject({ name: "", path: "/", fileType: "directory" });
  expect(features[2]?.value).toMatchObject({ fileType: "directory", mode: "0555" });
  expect(features[3]?.value).toEqual({
    path: "/dir/file4",
    name: "file4",
    fileType: "file",
    linkTarget: null,
    mode: "0644",
    "file.size": 7,
    "user.id": 3,
    "group.id": 2,
    "host.user.id": 100_003,
    "host.group.id": 100_002,
    modified: "2026-01-01T00:00:06.000Z",
    changed: "2026-01-01T00:00:05.000Z",
    drift: true,
    accessed: "2026-01-01T00:00:04.000Z",
    digest: null,
  });
  expect(problems).toEqual([]);
});

test("parity P4: what is no regular file says what it is, a socket too", async () => {
  const types = ["symlink", "directory", "block", "character", "fifo", "file", "socket"] as const;
  const fs = files(types.map((type) => ({ path: `/${type}`, type, link: type === "symlink" ? "file" : null })));
  const { features } = await crawlAlone(file, { access: { fs } });
  expect(features.slice(1).map(({ value }) => Object(value).fileType)).toEqual(types);
  expect(features[1]?.value).toMatchObject({ linkTarget: "file" });
});

test("when files were read is left out unless wanted, so that reading is no change", async () => {
  const { features } = await crawlAlone(file, { access: { fs: files([{ path: "/a" }]) } });
  expect(features[1]?.value).toMatchObject({ accessed: null });
});

test.each([
  ["TRAWLER_DENIED", "denied"],
  ["TRAWLER_LIMIT", "truncated"],
] as const)("what a walk could not read (%s) is a problem, and the rest is given", async (code, expected) => {
  const fs = files([{ path: "/a" }], new TrawlerError(code, "parts"));
  const { features, problems } = await crawlAlone(file, { access: { fs }, config: { paths: ["/x", "/y"] } });
  expect(features.map(({ key }) => key)).toEqual(["/x", "/a", "/y", "/a"]);
  expect(problems).toEqual([`${expected} parts`, `${expected} parts`]);
});

test("a member that has ended ends the crawl", async () => {
  const fs = files([{ path: "/a" }], new TrawlerError("TRAWLER_GONE", "ended"));
  await expect(crawlAlone(file, { access: { fs } })).rejects.toMatchObject({ code: "TRAWLER_GONE" });
});

test("a crawl ends at its bound, and says so", async () => {
  const fs = files(Array.from({ length: 50 }, (_, index) => ({ path: `/${index}` })));
  const { features, problems } = await crawlAlone(file, { access: { fs }, config: { maxFiles: 10 } });
  expect(features).toHaveLength(10);
  expect(problems).toEqual([expect.stringContaining("truncated stopped after 10 files")]);
});

test("a digest is read once, until the file changes", async () => {
  const clock = fakeClock();
  const read: string[] = [];
  const fs = {
    ...files([]),
    digest: async (path: string) => {
      read.push(path);
      return { digest: String(read.length), size: 7, truncated: false };
    },
  };
  const settings = { digest: "md5", digestPaths: ["/a", "/b"], digestMaxBytes: 100 } as const;
  const cache = new DigestCache(settings, clock);
  const { signal } = new AbortController();
  const of = (status: Partial<FileStatus>, member = "m") => cache.of(fs, member, { ...base, ...status }, signal);
  clock.advance(10_000);
  expect([await of({ path: "/a" }), await of({ path: "/a" }), await of({ path: "/a" }, "other")]).toEqual([
    "md5:1",
    "md5:1",
    "md5:2",
  ]);
  const changed = new Date(clock.now()).toISOString();
  expect([await of({ path: "/a", changed }), await of({ path: "/a", changed })]).toEqual(["md5:3", "md5:4"]);
  clock.advance(10_000);
  expect([await of({ path: "/a", changed }), await of({ path: "/a", changed })]).toEqual(["md5:5", "md5:5"]);
  expect(await of({ path: "/c" })).toBeNull();
  expect(await of({ path: "/b", size: 101 })).toBeNull();
  expect(await of({ path: "/b", type: "fifo" })).toBeNull();
});

test("a file that goes while it is read has no digest, and the crawl goes on", async () => {
  const fs = {
    ...files([{ path: "/a" }]),
    digest: async () => Promise.reject(new TrawlerError("TRAWLER_GONE", "gone")),
  };
  const { features } = await crawlAlone(file, { access: { fs }, config: { digest: "sha256" } });
  expect(features[1]?.value).toMatchObject({ digest: null });
});

test("parity P5: two containers are crawled alike by one instance", async () => {
  const crawler = await file.create(
    {
      paths: ["/bla"],
      exclude: [],
      maxFiles: 9,
      maxDepth: 9,
      digest: "none",
      digestPaths: [],
      digestMaxBytes: 1,
      accessTime: false,
    },
    fakeHost(),
  );
  for (const id of ["one", "two"]) {
    const workload = fakeWorkload({ id });
    const fs = files([{ path: "/bla/ble", size: id.length }]);
    const found: unknown[] = [];
    const features = crawler.crawl({ fs, meta: { workload, container: null } }, fakeCrawlContext());
    for await (const { key, value } of features) found.push([key, value["file.size"]]);
    expect(found, id).toEqual([
      ["/bla", 7],
      ["/bla/ble", 3],
    ]);
  }
});

test("what was changed after the container started is drift from its image; for the host nobody knows", async () => {
  const fs = files([
    { path: "/old", changed: "2025-12-31T22:59:59.999Z" },
    { path: "/new", changed: "2025-12-31T23:00:00.001Z", modified: "2001-01-01T00:00:00.000Z" },
  ]);
  const drifts = async (meta?: MetaAccess): Promise<readonly unknown[]> => {
    const { features } = await crawlAlone(file, { access: { fs, ...(meta && { meta }) } });
    return features.slice(1).map(({ value }) => Object(value).drift);
  };
  expect(await drifts()).toEqual([false, true]);
  expect(await drifts({ workload: fakeWorkload({ kind: "host", containers: [] }), container: null })).toEqual([
    null,
    null,
  ]);
});
