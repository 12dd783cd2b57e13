import { existsSync, readFileSync } from "node:fs";
import { crawlerContract, fakeConnect, fakeNet, httpAnswer } from "@trawler/testkit";
import { test } from "vitest";
import liberty from "../src/index.ts";

const testdata = new URL("../testdata/", import.meta.url);

/** A case's `page.txt` is what a real Open Liberty 24.0.0.12 showed; without one the port refuses. */
const cases = crawlerContract(liberty, {
  testdata,
  access: (name, access) => {
    const page = new URL(`${name}/page.txt`, testdata);
    const handlers = existsSync(page) ? { 9080: httpAnswer(readFileSync(page, "utf8")) } : {};
    return { ...access, net: fakeNet({}, fakeConnect(handlers)) };
  },
});

for (const { name, run } of cases) test(name, run);
