import type { FileStatus, FileSystemAccess } from "@trawler/plugin-api";
import { type CrawlerContractOptions, crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import file from "../src/index.ts";

/** A checkout has the times, owners and sizes of folders of the machine that it is on. */
function steady(fs: FileSystemAccess): FileSystemAccess {
  const at = "2026-01-01T00:00:00.000Z";
  const same = (status: FileStatus): FileStatus => ({
    ...status,
    size: status.type === "directory" ? 4096 : status.size,
    mode: status.type === "file" ? 0o644 : 0o755,
    userId: 0,
    groupId: 0,
    hostUserId: 100_000,
    hostGroupId: 100_000,
    modified: at,
    changed: at,
    accessed: at,
  });
  return {
    ...fs,
    stat: async (path, options) => same(await fs.stat(path, options)),
    async *walk(path, options) {
      for await (const batch of fs.walk(path, options)) yield batch.map(same);
    },
  };
}

const options: CrawlerContractOptions = {
  testdata: new URL("../testdata/", import.meta.url),
  access: (_, { fs, ...access }) => ({ ...access, fs: steady(fs) }),
};

for (const { name, run } of crawlerContract(file, options)) test(name, run);
