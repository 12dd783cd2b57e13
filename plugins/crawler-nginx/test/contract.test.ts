import { existsSync, readFileSync } from "node:fs";
import { crawlerContract, fakeConnect, fakeNet } from "@trawler/testkit";
import { test } from "vitest";
import nginx from "../src/index.ts";
import { page, server } from "./fake-nginx.ts";

const testdata = new URL("../testdata/", import.meta.url);

/** A case's `page.txt` is what a fake server on port 80 shows at `/nginx_status`; without one it answers 404. */
function pagesOf(name: string): Readonly<Record<string, Buffer>> {
  const file = new URL(`${name}/page.txt`, testdata);
  return existsSync(file) ? { "/nginx_status": page(readFileSync(file)) } : {};
}

const cases = crawlerContract(nginx, {
  testdata,
  access: (name, access) => ({ ...access, net: fakeNet({}, fakeConnect({ 80: server(pagesOf(name)).handler })) }),
});

for (const { name, run } of cases) test(name, run);
