import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import load from "../src/index.ts";

for (const { name, run } of crawlerContract(load, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
