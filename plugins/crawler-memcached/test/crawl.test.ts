import { readFileSync } from "node:fs";
import { crawlAlone, fakeConnect, fakeNet, fakeProc, type Handler, listens } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import memcached from "../src/index.ts";
import { figure, parseStats } from "../src/parse.ts";

// Fakes, for answers that a real server does not give on demand; real ones are crawled by the end-to-end tests.
const ANSWER = readFileSync(new URL("../testdata/ok/answer.txt", import.meta.url), "utf8");
const says =
  (...pieces: readonly string[]): Handler =>
  (socket) =>
    void socket.once("data", () => {
      for (const piece of pieces) socket.write(piece);
    });

async function crawl(handlers: Readonly<Record<string, Handler>>) {
  const { features, problems } = await crawlAlone(memcached, {
    config: { timeout: "500ms" },
    access: {
      proc: fakeProc({
        commands: [{ pid: 5, command: "memcached" }],
        sockets: { sockets: [listens(11_211)], total: 1, attributed: true },
      }),
      net: fakeNet({}, fakeConnect(handlers)),
    },
  });
  return { values: features.map(({ value }) => value), problems };
}

test("an answer in pieces is read whole", async () => {
  const half = ANSWER.length / 2;
  const { values } = await crawl({ 11211: says(ANSWER.slice(0, half), ANSWER.slice(half)) });
  expect(values).toMatchObject([
    { state: "ok", version: "1.6.18", "memcached.commands.get": 2, "memcached.get.hits": 1 },
  ]);
});

test.each<[string, Handler, string]>([
  ["ERROR", says("ERROR\r\n"), "unexpected"],
  ["a refusal of its SASL", says("CLIENT_ERROR unauthenticated\r\n"), "denied"],
  ["another protocol", says("HTTP/1.1 400 Bad Request\r\n\r\nEND\r\n"), "unexpected"],
  ["half an answer", says(ANSWER.slice(0, 50)), "unexpected"],
  ["silence", () => undefined, "down"],
  [
    "an endless answer",
    (socket) => void socket.once("data", () => socket.write("STAT a 1\r\n".repeat(20_000))),
    "unexpected",
  ],
  ["a cut", (socket) => void socket.once("data", () => socket.destroy()), "down"],
])("%s is a state without figures", async (_, handler, state) => {
  const { values } = await crawl({ 11211: handler });
  expect(values).toEqual([expect.objectContaining({ state, "memcached.uptime": null })]);
});

describe("stats", () => {
  test("a real answer", () => {
    const stats = parseStats(ANSWER) ?? new Map();
    expect(stats.size).toBeGreaterThan(40);
    expect(figure(stats, "limit_maxbytes")).toBe(67_108_864);
    expect(figure(stats, "version")).toBeNull();
  });

  test.each(["", "END\r\n", "STAT a 1\r\n", "STAT a 1\nEND\r\n", `STAT ${"a".repeat(100)} 1\r\nEND\r\n`])(
    "%j is none",
    (text) => {
      expect(parseStats(text)).toBeNull();
    },
  );
});
