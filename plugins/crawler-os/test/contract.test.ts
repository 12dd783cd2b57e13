import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import os from "../src/index.ts";

for (const { name, run } of crawlerContract(os, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
