import { existsSync, readFileSync } from "node:fs";
import { crawlerContract } from "@trawler/testkit";
import { test } from "vitest";
import prometheus from "../src/index.ts";
import { serving } from "./page.ts";

const testdata = new URL("../testdata/", import.meta.url);

/** A case's `page.txt` is what its port shows: taken from a real etcd. */
const cases = crawlerContract(prometheus, {
  testdata,
  access: (name, access) => {
    const page = new URL(`${name}/page.txt`, testdata);
    return existsSync(page) ? { ...access, net: serving(2379, readFileSync(page, "utf8")) } : access;
  },
});

for (const { name, run } of cases) test(name, run);
