import { readFileSync } from "node:fs";
import {
  crawlAlone,
  fakeConnect,
  fakeNet,
  fakeProc,
  type Handler,
  httpAnswer,
  type ProcAnswers,
} from "@trawler/testkit";
import { expect, test } from "vitest";
import liberty from "../src/index.ts";

// What Open Liberty 24.0.0.12 said, with mpMetrics-5.1 and mpMetrics-3.0; fakes only carry it.
const file = (name: string): string => readFileSync(new URL(`../testdata/${name}`, import.meta.url), "utf8");
const proc = (JSON.parse(file("ok/access.json")) as { readonly proc: ProcAnswers }).proc;

async function crawl(handlers: Readonly<Record<number, Handler>>, config: object = {}) {
  const { features, problems } = await crawlAlone(liberty, {
    config,
    access: { proc: fakeProc(proc), net: fakeNet({}, fakeConnect(handlers)) },
  });
  const of = (type: string) => features.filter((feature) => feature.type === type).map(({ value }) => value);
  return { features, problems, of };
}

test.each([
  ["5.1", "ok/page.txt"],
  ["3.0", "metrics-3.0.txt"],
])("parity A5: jvm, thread pool, servlets and sessions by mpMetrics %s", async (_, page) => {
  const { problems, of } = await crawl({ 9080: httpAnswer(file(page)) });
  expect(problems).toEqual([]);
  expect(of("liberty")).toEqual([
    {
      state: "ok",
      reason: null,
      "server.port": 9080,
      "process.uptime": expect.any(Number),
      "jvm.memory.used": expect.any(Number),
      "jvm.memory.committed": expect.any(Number),
      "jvm.memory.limit": 6320816128,
      "jvm.cpu.time": expect.any(Number),
      "jvm.cpu.recent_utilization": expect.any(Number),
      "jvm.thread.count": expect.any(Number),
      "jvm.class.count": expect.any(Number),
      "jvm.gc.count": expect.any(Number),
      "jvm.gc.duration": expect.any(Number),
    },
  ]);
  expect(of("libertyThreadPool")).toEqual([
    { pool: "Default_Executor", "liberty.threads.current": 4, "liberty.threads.busy": 1 },
  ]);
  expect(of("libertySession")).toEqual([
    expect.objectContaining({ application: "default_host_metrics", "liberty.session.created": 1 }),
  ]);
});

test("parity A5: a servlet has its requests and the time spent on them; collectors are summed", async () => {
  const { of } = await crawl({ 9080: httpAnswer(file("ok/page.txt")) });
  expect(of("libertyServlet")).toEqual([
    {
      servlet: "io_openliberty_microprofile_metrics_5_0_public_internal_PublicMetricsRESTProxyServlet",
      "liberty.request.count": 2,
      "liberty.request.duration.sum": 0.34492309600000004,
    },
  ]);
  expect(of("liberty")[0]).toMatchObject({ "jvm.gc.count": 11 });
});

test("neither the TLS port nor the one that takes the order to stop is asked in the clear", async () => {
  const asked: number[] = [];
  const answer =
    (port: number): Handler =>
    (socket, ...rest) => {
      asked.push(port);
      httpAnswer(file("ok/page.txt"))(socket, ...rest);
    };
  await crawl({ 9080: answer(9080), 9443: answer(9443), 48147: answer(48147) });
  expect(asked).toEqual([9080]);
});

test("a server that asks for a user is a state and no problem, unless one was given", async () => {
  const handlers = { 9080: httpAnswer("", "401 Unauthorized") };
  const { of, problems } = await crawl(handlers);
  expect(of("liberty")[0]).toMatchObject({ state: "denied" });
  expect(problems).toEqual([]);
  const given = await crawl(handlers, { username: "trawler", password: "s3cret" });
  expect(given.problems).toHaveLength(1);
  expect(JSON.stringify(given)).not.toContain("s3cret");
});

test.each([
  ["a page of something else", httpAnswer("<html></html>"), "unexpected"],
  ["another application's metrics", httpAnswer("http_requests_total 3\n"), "unexpected"],
  ["a redirect to TLS", httpAnswer("", "302 Found"), null],
])("%s has no figures", async (_, handler, state) => {
  const { of, features } = await crawl({ 9080: handler });
  expect(features).toHaveLength(1);
  expect(of("liberty")[0]).toMatchObject({ ...(state === null ? {} : { state }), "jvm.memory.used": null });
});

test("A6: a dead endpoint is down, and a problem", async () => {
  const { of, problems } = await crawl({});
  expect(of("liberty")[0]).toMatchObject({ state: "down", "server.port": 9080 });
  expect(problems).toHaveLength(1);
});
