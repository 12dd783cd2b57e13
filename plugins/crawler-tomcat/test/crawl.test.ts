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
import { describe, expect, test } from "vitest";
import tomcat from "../src/index.ts";
import { parseStatus } from "../src/parse.ts";

// Fakes, for answers that a real server does not give on demand; real ones are crawled by the end-to-end tests.
const file = (name: string): string => readFileSync(new URL(`../testdata/${name}`, import.meta.url), "utf8");
const proc = (JSON.parse(file("ok/access.json")) as { readonly proc: ProcAnswers }).proc;

async function crawl(handler: Handler | null, config: object = {}) {
  const { features, problems } = await crawlAlone(tomcat, {
    config,
    access: { proc: fakeProc(proc), net: fakeNet({}, fakeConnect(handler === null ? {} : { 8080: handler })) },
  });
  return { features, problems, types: features.map(({ type }) => type), value: features[0]?.value };
}

test("parity A4: jvm, pools, connectors and, where they are asked for, workers, in this order", async () => {
  const { features, types } = await crawl(httpAnswer(file("a4.xml")), { workers: true });
  expect(types).toEqual([
    "tomcat",
    "tomcatMemoryPool",
    "tomcatMemoryPool",
    "tomcatConnector",
    "tomcatConnector",
    "tomcatWorker",
  ]);
  expect(features[0]?.value).toMatchObject({ "jvm.memory.free": 3846720, "jvm.memory.max": 922746880 });
  expect(features[4]?.value).toMatchObject({
    connector: "http-nio-8080",
    "tomcat.threads.max": 200,
    "tomcat.threads.current": 2,
    "tomcat.threads.busy": 1,
    "tomcat.request.duration.max": 0.06,
    "tomcat.request.count": 1,
    "tomcat.error.count": 1,
  });
  expect(features[5]?.value).toMatchObject({
    stage: "S",
    "tomcat.request.duration": 0.052,
    "client.address": "0:0:0:0:0:0:0:1",
    virtualHost: "localhost",
    request: "/manager/status",
  });
  expect((await crawl(httpAnswer(file("a4.xml")))).types).not.toContain("tomcatWorker");
});

test("the password goes in the request, and only there", async () => {
  const heard: string[] = [];
  const { features, problems } = await crawl(
    (socket) =>
      void socket.once("data", (chunk) => {
        heard.push(chunk.toString("latin1"));
        socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
      }),
    { username: "trawler", password: "s3cret" },
  );
  expect(heard[0]).toContain(`authorization: Basic ${Buffer.from("trawler:s3cret").toString("base64")}`);
  expect(features[0]?.value).toMatchObject({ state: "denied" });
  expect(problems).toEqual(["denied 8080: answers 401: it asks for a password"]);
  expect(JSON.stringify(features)).not.toContain("s3cret");
});

test("without a user a refusal is a state and no problem", async () => {
  const { value, problems } = await crawl(httpAnswer("", "401 Unauthorized"));
  expect(value).toMatchObject({ state: "denied" });
  expect(problems).toEqual([]);
});

test("parity A6: a dead endpoint is down, and a problem", async () => {
  const { value, problems } = await crawl(null);
  expect(value).toMatchObject({ state: "down", "server.port": 8080 });
  expect(problems).toHaveLength(1);
});

describe("the status page", () => {
  test.each([
    "",
    "<html></html>",
    "<status/>",
    "not xml at all",
    "<status><jvm>",
    '<status><jvm><memory __proto__="1" free="1"/></jvm></status>',
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><status><jvm><memory free="&b;"/></jvm></status>',
  ])("%s is none, or says nothing", (text) => {
    expect(parseStatus(text)?.memory ?? {}).toEqual({});
  });

  test("its size and its names are bounded", () => {
    const worker = `<worker stage="${"S".repeat(10_000)}"/>`;
    const page = `<status><jvm><memory free="1"/></jvm><connector name="c"><workers>${worker.repeat(1_000)}</workers></connector></status>`;
    const status = parseStatus(page);
    expect(status?.connectors[0]?.workers).toHaveLength(200);
    expect(status?.connectors[0]?.workers[0]?.["stage"]?.length).toBe(512);
  });
});
