import { type CrawlerContractOptions, crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import config from "../src/index.ts";

/** A checkout has its own times. */
const STEADY = { modified: "2026-01-01T00:00:00.000Z", changed: "2025-12-31T00:00:00.000Z" };

const options: CrawlerContractOptions = {
  testdata: new URL("../testdata/", import.meta.url),

  access: (_, { fs, ...access }) => ({
    ...access,
    fs: {
      ...fs,
      stat: async (path, given) => ({ ...(await fs.stat(path, given)), ...STEADY }),
      async *walk(path, given) {
        for await (const batch of fs.walk(path, given)) {
          yield batch.map((status) => ({ ...status, ...STEADY }));
        }
      },
    },
  }),
};

for (const { name, run } of crawlerContract(config, options)) test(name, run);
