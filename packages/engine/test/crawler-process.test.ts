import { CrawlerProcess, IsolatedCrawler } from "@trawler/engine";
import type { Feature } from "@trawler/plugin-api";
import { fakeClock, fakeCrawlContext, fakeHost, silentLog } from "@trawler/testkit";
import { expect, test } from "vitest";

const entry = new URL("./fixtures/misbehaving.ts", import.meta.url);
const clock = fakeClock();

function start(shared: CrawlerProcess, module: string): Promise<IsolatedCrawler> {
  return IsolatedCrawler.start({ module, config: {}, host: fakeHost({ id: module, clock }), carry: shared.carry });
}

async function crawl(crawler: IsolatedCrawler, milliseconds = 30_000): Promise<unknown> {
  const signal = AbortSignal.timeout(milliseconds);
  const context = fakeCrawlContext({ signal, clock });
  const features: Feature[] = [];
  try {
    for await (const feature of crawler.crawl({}, context)) features.push(feature);
    return features;
  } catch (error) {
    return error;
  }
}

test.each(["spins", "leaks"])(
  "a crawler that %s costs its process, and the others' next calls none",
  async (misdeed) => {
    const shared = new CrawlerProcess({ entry, log: silentLog });
    await using good = await start(shared, "good");
    await using bad = await start(shared, misdeed);
    const { pid } = shared;
    expect(await crawl(bad, 3_000)).toMatchObject({ code: "TRAWLER_PLUGIN_FAILED" });
    // Where the process ended by itself, whose fault it was can't be told: then all rest.
    clock.advance(60_000);
    expect(await crawl(good)).toHaveLength(1);
    expect(shared.pid).not.toBe(pid);
  },
);

test("calls of others that are under way when a process is killed may be tried again", async () => {
  const shared = new CrawlerProcess({ entry, log: silentLog });
  await using waiting = await start(shared, "waits");
  await using bad = await start(shared, "spins");
  const underWay = crawl(waiting);
  expect(await crawl(bad, 100)).toMatchObject({ code: "TRAWLER_PLUGIN_FAILED" });
  expect(await underWay).toMatchObject({ code: "TRAWLER_RETRY" });
});
