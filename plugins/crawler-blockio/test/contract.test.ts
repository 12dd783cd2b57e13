import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import blockio from "../src/index.ts";

for (const { name, run } of crawlerContract(blockio, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
