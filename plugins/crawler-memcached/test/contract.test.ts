import { existsSync, readFileSync } from "node:fs";
import { crawlerContract, fakeConnect, fakeNet } from "@trawler/testkit";
import { test } from "vitest";
import memcached from "../src/index.ts";

const testdata = new URL("../testdata/", import.meta.url);

/** A case's `answer.txt` is what a real memcached 1.6 said to `stats`; without one the port refuses. */
const cases = crawlerContract(memcached, {
  testdata,
  access: (name, access) => {
    const file = new URL(`${name}/answer.txt`, testdata);
    const answer = existsSync(file) ? readFileSync(file) : null;
    const handlers =
      answer === null
        ? {}
        : { 11211: (socket: import("node:net").Socket) => void socket.once("data", () => socket.write(answer)) };
    return { ...access, net: fakeNet({}, fakeConnect(handlers)) };
  },
});

for (const { name, run } of cases) test(name, run);
