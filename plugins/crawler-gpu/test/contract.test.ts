import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import gpu from "../src/index.ts";

for (const { name, run } of crawlerContract(gpu, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
