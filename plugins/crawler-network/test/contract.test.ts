import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import network from "../src/index.ts";

for (const { name, run } of crawlerContract(network, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
