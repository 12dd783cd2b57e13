import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import diskio from "../src/index.ts";

for (const { name, run } of crawlerContract(diskio, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
