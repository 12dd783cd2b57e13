import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folderFs } from "@trawler/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expandPaths, findPaths, statFingerprint, TrawlerError } from "../src/index.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "trawler-paths-"));
  for (const path of ["usr/lib/python3.11/x", "usr/lib/python3/x", "usr/lib/ruby", "opt/b", "opt/a"])
    await mkdir(join(root, path), { recursive: true });
  await symlink("opt", join(root, "link"));
});
afterAll(() => rm(root, { recursive: true }));

const failing = (code: "TRAWLER_DENIED" | "TRAWLER_GONE") => async (path: string) => {
  throw new TrawlerError(code, path);
};

test("names with signs are looked up, others taken as they are, each path once and sorted", async () => {
  const fs = folderFs(root);
  const patterns = ["/usr/lib/python3*/site", "/opt/?", "/opt/a", "/none/*/x", "/plain/path/", "/"];
  expect(await expandPaths(fs, patterns)).toEqual({
    paths: ["/", "/opt/a", "/opt/b", "/plain/path", "/usr/lib/python3.11/site", "/usr/lib/python3/site"],
    truncated: false,
  });
});

test("a pattern that stands for too much hides no other", async () => {
  const entries = Array.from({ length: 5000 }, (_, index) => ({ path: `/many/${index}`, type: "file" as const }));
  const fs = { list: async () => ({ entries, truncated: false }) };
  const { paths, truncated } = await expandPaths(fs, ["/many/*", "/plain"]);
  expect(paths).toHaveLength(201);
  expect(paths).toContain("/plain");
  expect(truncated).toBe(true);
});

test("a folder that may not be read stands for nothing; a member that has ended ends it", async () => {
  const expanded = expandPaths({ list: failing("TRAWLER_DENIED") }, ["/opt/*", "/a"]);
  expect((await expanded).paths).toEqual(["/a"]);
  await expect(expandPaths({ list: failing("TRAWLER_GONE") }, ["/opt/*"])).rejects.toMatchObject({
    code: "TRAWLER_GONE",
  });
});

test("of what patterns stand for only what is there is found, and a refusal of all is an error", async () => {
  const fs = folderFs(root);
  const { files } = await findPaths(fs, ["/usr/lib/python3*/x", "/opt/c", "/link"]);
  expect(files.map(({ path, type }) => [path, type])).toEqual([
    ["/link", "symlink"],
    ["/usr/lib/python3.11/x", "directory"],
    ["/usr/lib/python3/x", "directory"],
  ]);
  await mkdir(join(root, "usr/lib/python3/x/new"));
  const after = await findPaths(fs, ["/usr/lib/python3*/x", "/link"]);
  expect(statFingerprint(after.files)).not.toBe(statFingerprint(files));
  const refuse = failing("TRAWLER_DENIED");
  await expect(findPaths({ list: fs.list, stat: refuse }, ["/opt"])).rejects.toThrow("/opt");
  const some = { list: fs.list, stat: (path: string) => (path === "/opt/a" ? refuse(path) : fs.stat(path)) };
  expect((await findPaths(some, ["/opt/*"])).files).toHaveLength(1);
});
