import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import disk from "../src/index.ts";

for (const { name, run } of crawlerContract(disk, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
