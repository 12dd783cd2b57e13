import { type CrawlerContractOptions, crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import config from "../src/index.ts";

const options: CrawlerContractOptions = {
  testdata: new URL("../testdata/", import.meta.url),
  // A checkout has its own times.
  access: (_, { fs, ...access }) => ({
    ...access,
    fs: {
      ...fs,
      stat: async (path, given) => ({ ...(await fs.stat(path, given)), modified: "2026-01-01T00:00:00.000Z" }),
      async *walk(path, given) {
        for await (const batch of fs.walk(path, given)) {
          yield batch.map((status) => ({ ...status, modified: "2026-01-01T00:00:00.000Z" }));
        }
      },
    },
  }),
};

for (const { name, run } of crawlerContract(config, options)) test(name, run);
