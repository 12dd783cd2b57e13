import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import pressure from "../src/index.ts";

for (const { name, run } of crawlerContract(pressure, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
