import type { FileStatus } from "@trawler/plugin-api";
import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import crawler from "../src/index.ts";

/** A working copy's times are its own: these stand for an image of May and a package that was installed at run time. */
const timed = (status: FileStatus): FileStatus => {
  const late = status.path.includes("broken-thing") || status.path.endsWith("/dpkg/status");
  const at = late ? "2026-01-01T08:00:00.000Z" : "2025-05-01T00:00:00.000Z";
  return { ...status, modified: at, changed: at };
};

const suite = crawlerContract(crawler, {
  testdata: new URL("../testdata/", import.meta.url),
  access: (_, { fs, ...access }) => ({
    ...access,
    fs: {
      ...fs,
      stat: async (path, options) => timed(await fs.stat(path, options)),
      async *walk(path, options) {
        for await (const batch of fs.walk(path, options)) yield batch.map(timed);
      },
    },
  }),
});
for (const { name, run } of suite) test(name, run);
