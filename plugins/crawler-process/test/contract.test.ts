import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import processes from "../src/index.ts";

for (const { name, run } of crawlerContract(processes, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
