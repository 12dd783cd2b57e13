import { readFileSync } from "node:fs";
import { crawlAlone, fakeConnect, fakeNet, fakeProc, type Handler, httpAnswer, listens } from "@trawler/testkit";
import { expect, test } from "vitest";
import apache from "../src/index.ts";

// Fakes, for answers that a real server does not give on demand; real ones are crawled by the end-to-end tests.
const PAGE = readFileSync(new URL("../testdata/ok/page.txt", import.meta.url), "utf8");

async function crawl(handlers: Readonly<Record<string, Handler>>, config: object = {}, ports = [80]) {
  const sockets = ports.map((port) => listens(port));
  const { features, problems } = await crawlAlone(apache, {
    config,
    access: {
      proc: fakeProc({
        commands: [{ pid: 5, command: "apache2" }],
        sockets: { sockets, total: sockets.length, attributed: true },
      }),
      net: fakeNet({}, fakeConnect(handlers)),
    },
  });
  return { values: features.map(({ value }) => value), problems };
}

test("each port that Apache holds is asked, one that speaks TLS by custom is not", async () => {
  const { values } = await crawl({ 80: httpAnswer(PAGE), 8081: httpAnswer(PAGE) }, {}, [80, 443, 8081]);
  expect(values).toMatchObject([
    { state: "ok", "server.port": 80 },
    { state: "ok", "server.port": 8081 },
  ]);
});

test.each<[string, Handler, object]>([
  ["404", httpAnswer("", "404 Not Found"), { state: "unavailable", reason: expect.stringContaining("404") }],
  ["403", httpAnswer("", "403 Forbidden"), { state: "denied" }],
  ["a redirect", httpAnswer("", "301 Moved", ["Location: http://10.0.0.1/"]), { state: "unavailable" }],
  ["another page", httpAnswer("<html>It works</html>"), { state: "unexpected" }],
  ["no HTTP", (socket) => void socket.end("SSH-2.0-x\r\n"), { state: "unexpected" }],
  ["an endless page", httpAnswer("x".repeat(200_000)), { state: "unexpected" }],
  [
    "TLS",
    httpAnswer("speaking plain HTTP to an SSL-enabled server port", "400 Bad Request"),
    { state: "tls_required" },
  ],
])("A1: %s is a state without figures", async (_, handler, expected) => {
  const { values } = await crawl({ 80: handler });
  expect(values).toEqual([expect.objectContaining({ ...expected, "apache.workers.busy": null })]);
});

test("parity A6: a dead endpoint is down, and a problem", async () => {
  const { values, problems } = await crawl({});
  expect(values).toMatchObject([{ state: "down" }]);
  expect(problems).toEqual([expect.stringMatching(/^unavailable 80/)]);
});
