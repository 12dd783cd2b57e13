import { type Clock, errorCode, type Feature, type FileSystemAccess, TrawlerError } from "@trawler/plugin-api";
import { fakeClock, fakeCrawlContext, fakeHost, silentAccess } from "@trawler/testkit";
import { expect, test } from "vitest";
import os from "../src/index.ts";

const context = (clock: Clock) => fakeCrawlContext({ clock });

async function crawl(readText: FileSystemAccess["readText"]) {
  const crawler = await os.create({}, fakeHost());
  return await featuresOf(crawler, { ...silentAccess().fs, readText }, fakeClock());
}

async function featuresOf(
  crawler: Awaited<ReturnType<typeof os.create>>,
  fs: FileSystemAccess,
  clock: Clock,
): Promise<Feature[]> {
  const features: Feature[] = [];
  for await (const feature of crawler.crawl({ fs }, context(clock))) features.push(feature);
  return features;
}

test("C78: a FIFO in place of /etc/os-release does not hide /usr/lib/os-release", async () => {
  const features = await crawl(async (path) => {
    if (path === "/etc/os-release") throw new TrawlerError("TRAWLER_REFUSED", "no regular file");
    return "ID=debian\n";
  });
  expect(features).toMatchObject([{ type: "os", value: { id: "debian" } }]);
});

test("parity O6: a refusal of the only file is an error, its absence is silence", async () => {
  const refused = crawl(async (path) => {
    throw new TrawlerError(path === "/etc/os-release" ? "TRAWLER_DENIED" : "TRAWLER_UNSUPPORTED", path);
  });
  await expect(refused.catch(errorCode)).resolves.toBe("TRAWLER_DENIED");
  const absent = crawl(async (path) => {
    throw new TrawlerError("TRAWLER_UNSUPPORTED", path);
  });
  await expect(absent).resolves.toEqual([]);
});

test("the file is read once in five minutes, and then again", async () => {
  const crawler = await os.create({}, fakeHost());
  const clock = fakeClock();
  let reads = 0;
  const readText = async () => `VERSION_ID=${++reads}\n`;
  const fs = { ...silentAccess().fs, readText };
  const versions = async (from: FileSystemAccess) =>
    (await featuresOf(crawler, from, clock)).map(({ value }) => Reflect.get(Object(value), "version"));
  const version = async () => (await versions(fs))[0];
  await expect(version()).resolves.toBe("1");
  clock.advance(299_000);
  await expect(version()).resolves.toBe("1");
  clock.advance(1_000);
  await expect(version()).resolves.toBe("2");
  expect(await versions({ ...fs })).toEqual(["3"]);
});
