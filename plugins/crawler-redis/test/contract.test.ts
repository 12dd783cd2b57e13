import { existsSync, readFileSync } from "node:fs";
import { crawlerContract, fakeConnect, fakeNet } from "@trawler/testkit";
import { test } from "vitest";
import redis from "../src/index.ts";
import { bulk, server } from "./fake-redis.ts";

const testdata = new URL("../testdata/", import.meta.url);

/** A case's `info.txt` (captured from a real server) or `reply.txt` (raw) is what a fake server on 6379 answers. */
function replyOf(name: string): string {
  const info = new URL(`${name}/info.txt`, testdata);
  if (existsSync(info)) return bulk(readFileSync(info, "latin1"));
  const reply = new URL(`${name}/reply.txt`, testdata);
  return existsSync(reply) ? readFileSync(reply, "latin1") : "";
}

const cases = crawlerContract(redis, {
  testdata,
  access: (name, access) => ({
    ...access,
    net: fakeNet({}, fakeConnect({ 6379: server({ INFO: replyOf(name) }).handler })),
  }),
});

for (const { name, run } of cases) test(name, run);
