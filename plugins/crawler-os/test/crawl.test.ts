import { errorCode, type Feature, type FileSystemAccess, TrawlerError } from "@trawler/plugin-api";
import { fakeClock, fakeContext, fakeHost, silentAccess } from "@trawler/testkit";
import { expect, test } from "vitest";
import os from "../src/index.ts";

async function crawl(readText: FileSystemAccess["readText"]) {
  const crawler = await os.create({}, fakeHost());
  const access = { fs: { ...silentAccess().fs, readText } };
  const context = {
    ...fakeContext(),
    clock: fakeClock(),
    state: new Map(),
    unchanged: () => false,
    fingerprint: null,
    asked: "always",
    annotation: null,
  } as const;
  const features: Feature[] = [];
  for await (const feature of crawler.crawl(access, { ...context, problem() {} })) features.push(feature);
  return features;
}

test("C78: a FIFO in place of /etc/os-release does not hide /usr/lib/os-release", async () => {
  const features = await crawl(async (path) => {
    if (path === "/etc/os-release") throw new TrawlerError("TRAWLER_REFUSED", "no regular file");
    return "ID=debian\n";
  });
  expect(features).toMatchObject([{ type: "os", value: { id: "debian" } }]);
});

test("a refusal of the only file is an error, its absence is silence", async () => {
  const refused = crawl(async (path) => {
    throw new TrawlerError(path === "/etc/os-release" ? "TRAWLER_DENIED" : "TRAWLER_UNSUPPORTED", path);
  });
  await expect(refused.catch(errorCode)).resolves.toBe("TRAWLER_DENIED");
  const absent = crawl(async (path) => {
    throw new TrawlerError("TRAWLER_UNSUPPORTED", path);
  });
  await expect(absent).resolves.toEqual([]);
});
