import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import crawler from "../src/index.ts";

for (const { name, run } of crawlerContract(crawler, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
