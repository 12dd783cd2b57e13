import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folderFs } from "@trawler/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expandPaths, TrawlerError } from "../src/index.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "trawler-paths-"));
  for (const path of ["usr/lib/python3.11/x", "usr/lib/python3/x", "usr/lib/ruby", "opt/b", "opt/a"])
    await mkdir(join(root, path), { recursive: true });
  await symlink("opt", join(root, "link"));
});
afterAll(() => rm(root, { recursive: true }));

test("names with signs are looked up, others taken as they are, each path once and sorted", async () => {
  const fs = folderFs(root);
  const patterns = ["/usr/lib/python3*/site", "/opt/?", "/opt/a", "/none/*/x", "/plain/path/", "/"];
  expect(await expandPaths(fs, patterns)).toEqual([
    "/",
    "/opt/a",
    "/opt/b",
    "/plain/path",
    "/usr/lib/python3.11/site",
    "/usr/lib/python3/site",
  ]);
  expect(await expandPaths(fs, ["/opt/*"], { max: 1 })).toEqual(["/opt/a"]);
});

test("a folder that may not be read stands for nothing; a member that has ended ends it", async () => {
  const failing = (code: "TRAWLER_DENIED" | "TRAWLER_GONE") => ({
    list: async () => {
      throw new TrawlerError(code, "as scripted");
    },
  });
  expect(await expandPaths(failing("TRAWLER_DENIED"), ["/opt/*", "/a"])).toEqual(["/a"]);
  await expect(expandPaths(failing("TRAWLER_GONE"), ["/opt/*"])).rejects.toMatchObject({ code: "TRAWLER_GONE" });
});
