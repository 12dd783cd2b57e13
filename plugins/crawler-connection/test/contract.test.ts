import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import connection from "../src/index.ts";

for (const { name, run } of crawlerContract(connection, { testdata: new URL("../testdata/", import.meta.url) }))
  test(name, run);
