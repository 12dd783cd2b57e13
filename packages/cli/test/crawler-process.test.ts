import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CrawlerProcess, IsolatedCrawler } from "@trawler/engine";
import type { Feature } from "@trawler/plugin-api";
import { fakeClock, fakeCrawlContext, fakeHost, fakeWorkload, folderFs, silentLog } from "@trawler/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";

const entry = new URL("../src/crawler-process.ts", import.meta.url);
let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "trawler-crawler-process-"));
  await mkdir(join(root, "lib/apk/db"), { recursive: true });
  await writeFile(join(root, "lib/apk/db/installed"), "P:musl\nV:1.2.5-r0\nA:x86_64\n\n");
});
afterEach(() => rm(root, { recursive: true }));

const clock = fakeClock();

async function start(process: CrawlerProcess, module: string, config: unknown): Promise<IsolatedCrawler> {
  return IsolatedCrawler.start({ module, config, host: fakeHost({ id: module, clock }), carry: process.carry });
}

async function crawl(crawler: IsolatedCrawler, signal = new AbortController().signal): Promise<Feature[]> {
  const context = fakeCrawlContext({ signal, clock });
  const features: Feature[] = [];
  const access = { fs: folderFs(root), meta: { workload: fakeWorkload(), container: null } };
  for await (const feature of crawler.crawl(access, context)) features.push(feature);
  return features;
}

test("crawlers share one process, which has neither environment nor descriptors nor rights of the agent", async () => {
  process.env["TRAWLER_TEST_SECRET"] = "hush";
  const shared = new CrawlerProcess({ entry, log: silentLog });
  await using packages = await start(shared, "package", { max: 10 });
  await using gems = await start(shared, "ruby-package", { paths: [], usualPaths: true, max: 10 });
  delete process.env["TRAWLER_TEST_SECRET"];
  expect(await crawl(packages)).toMatchObject([
    { type: "packageDatabase", value: { format: "apk-installed" } },
    { type: "package", value: { name: "musl" } },
  ]);
  expect(await crawl(gems)).toEqual([]);

  const proc = `/proc/${shared.pid}`;
  expect(await readFile(`${proc}/environ`, "latin1")).not.toContain("hush");
  const status = await readFile(`${proc}/status`, "latin1");
  expect(status).toMatch(/^CapPrm:\t0+\nCapEff:\t0+$/m);
  expect(status).toMatch(/^Seccomp:\t2$/m);
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  const targets = await Promise.all(
    (await readdir(`${proc}/fd`)).map((name) => readlink(`${proc}/fd/${name}`).catch(() => "")),
  );
  // Input, its output, its channel; the rest is Node's own.
  const files = targets.filter((target) => target.startsWith("/") && target !== "/dev/null");
  expect(files).toEqual([]);
  expect(targets.filter((target) => target.startsWith("socket:")).length).toBeLessThanOrEqual(3);
});

test("it ends when nothing was asked for a while, and the next call starts another", async () => {
  const shared = new CrawlerProcess({ entry, log: silentLog, idle: 50 });
  await using packages = await start(shared, "package", { max: 10 });
  await expect.poll(() => shared.pid).toBeNull();
  expect(await crawl(packages)).toHaveLength(2);
});

test("parity W10: one that is killed costs the calls that it had, and the next call starts another", async () => {
  const shared = new CrawlerProcess({ entry, log: silentLog });
  await using packages = await start(shared, "package", { max: 10 });
  process.kill(shared.pid ?? Number.NaN, "SIGKILL");
  await expect.poll(() => shared.pid).toBeNull();
  clock.advance(60_000);
  expect(await crawl(packages)).toHaveLength(2);
});

test("settings that a crawler refuses fail it alone", async () => {
  const shared = new CrawlerProcess({ entry, log: silentLog });
  await using packages = await start(shared, "package", { max: 10 });
  await expect(start(shared, "nothing", {})).rejects.toMatchObject({ code: "TRAWLER_PLUGIN_INVALID" });
  expect(await crawl(packages)).toHaveLength(2);
});

test("parity W10: no process is left when its crawlers are closed", async () => {
  const shared = new CrawlerProcess({ entry, log: silentLog });
  const packages = await start(shared, "package", { max: 10 });
  const { pid } = shared;
  expect(existsSync(`/proc/${pid}`)).toBe(true);
  await packages[Symbol.asyncDispose]();
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
});
