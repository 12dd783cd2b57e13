import { existsSync, readFileSync } from "node:fs";
import { crawlerContract, fakeConnect, fakeNet, type Recording, replay } from "@trawler/testkit";
import { test } from "vitest";
import postgresql from "../src/index.ts";

const testdata = new URL("../testdata/", import.meta.url);

/** A case's `server.json` is what a real server said; without one the port refuses. */
const cases = crawlerContract(postgresql, {
  testdata,
  access: (name, access) => {
    const file = new URL(`${name}/server.json`, testdata);
    const handlers = existsSync(file) ? { 5432: replay(JSON.parse(readFileSync(file, "utf8")) as Recording) } : {};
    return { ...access, net: fakeNet({}, fakeConnect(handlers)) };
  },
});

for (const { name, run } of cases) test(name, run);
