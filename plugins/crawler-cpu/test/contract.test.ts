import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import cpu from "../src/index.ts";

for (const { name, run } of crawlerContract(cpu, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
