import type { Feature } from "@trawler/plugin-api";
import { fakeCrawlContext, fakeHost, fakeWorkload } from "@trawler/testkit";
import { expect, test } from "vitest";
import prometheus from "../src/index.ts";
import { serving } from "./page.ts";

const PAGE = "# TYPE shop_orders_total counter\nshop_orders_total 5\n# TYPE shop_carts gauge\nshop_carts 2\n";

async function crawl({
  annotations = {},
  annotation = null,
  net = serving(9100, PAGE),
  config = {},
}: {
  readonly annotations?: Record<string, string>;
  readonly annotation?: Record<string, unknown> | null;
  readonly net?: ReturnType<typeof serving>;
  readonly config?: object;
}) {
  const crawler = await prometheus.create(prometheus.config.parse(config), fakeHost());
  const problems: string[] = [];
  const context = fakeCrawlContext({
    asked: annotation === null ? "always" : "annotation",
    annotation,
    problem: (code, message) => problems.push(`${code} ${message}`),
  });
  const features: Feature[] = [];
  const meta = { workload: fakeWorkload({ annotations }), container: null };
  for await (const feature of crawler.crawl({ net, meta }, context)) features.push(feature as Feature);
  return { features, problems, names: features.slice(1).map(({ key }) => key) };
}

test("a pod that asks for nothing is not asked", async () => {
  expect(await crawl({})).toMatchObject({ features: [], problems: [] });
  expect(await crawl({ annotations: { "prometheus.io/scrape": "false", "prometheus.io/port": "9100" } })).toMatchObject(
    {
      features: [],
    },
  );
});

test("the custom annotations are heeded where the settings say so", async () => {
  const annotations = { "prometheus.io/scrape": "true", "prometheus.io/port": "9100" };
  expect((await crawl({ annotations, config: { custom: true } })).names).toEqual([
    "9100/shop_orders_total",
    "9100/shop_carts",
  ]);
  expect(await crawl({ annotations })).toMatchObject({ features: [] });
});

test("our own annotation chooses port, path and series", async () => {
  const { names, features } = await crawl({ annotation: { port: 9100, path: "/m", series: ["*_total"] } });
  expect(names).toEqual(["9100/shop_orders_total"]);
  expect(features[0]?.value).toMatchObject({ state: "ok", path: "/m", "prometheus.series": 1 });
});

test("more series than wanted are cut, and it is said", async () => {
  const { names, problems } = await crawl({ annotation: { port: 9100 }, config: { maxSeries: 1 } });
  expect(names).toEqual(["9100/shop_orders_total"]);
  expect(problems).toEqual(["truncated 9100: more than 1 series were chosen: name fewer"]);
});

test.each([
  [{ port: "http" }, "no port number"],
  [{ port: 0 }, "no port number"],
  [{ port: 9100, path: "http://10.0.0.1/" }, "no path"],
  [{ port: 9100, series: ["a b"] }, "no list of names"],
  [{}, "no port number"],
])("a hostile annotation %j is a problem, and nothing is asked", async (annotation, message) => {
  const { features, problems } = await crawl({ annotation });
  expect(features).toEqual([]);
  expect(problems).toEqual([expect.stringContaining(message)]);
});

test.each([
  ["404 Not Found", "unavailable", 0],
  ["401 Unauthorized", "denied", 1],
  ["302 Found", "unavailable", 0],
])("%s is a state", async (status, state, problems) => {
  const answer = await crawl({ annotation: { port: 9100 }, net: serving(9100, "", status) });
  expect(answer.features).toEqual([expect.objectContaining({ value: expect.objectContaining({ state }) })]);
  expect(answer.problems).toHaveLength(problems);
});

test("a port that nobody listens on is down, and a problem", async () => {
  const { features, problems } = await crawl({ annotation: { port: 9999 } });
  expect(features[0]?.value).toMatchObject({ state: "down", "server.port": 9999 });
  expect(problems).toEqual([expect.stringMatching(/^unavailable 9999/)]);
});
