import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import memory from "../src/index.ts";

for (const { name, run } of crawlerContract(memory, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
