import { readFileSync } from "node:fs";
import {
  crawlAlone,
  fakeConnect,
  fakeNet,
  fakeProc,
  type Handler,
  listens,
  type Recording,
  replay,
} from "@trawler/testkit";
import { expect, test } from "vitest";
import mysql from "../src/index.ts";

// Fakes, for answers that a real server does not give on demand; real ones are crawled by the end-to-end tests.
const recording = JSON.parse(readFileSync(new URL("../testdata/ok/server.json", import.meta.url), "utf8")) as Recording;
const [greeting = ""] = recording.answers;

async function crawl(handlers: Readonly<Record<string, Handler>>) {
  const { features, problems } = await crawlAlone(mysql, {
    config: { username: "trawler", password: "s3cret", timeout: "500ms" },
    access: {
      proc: fakeProc({
        commands: [{ pid: 5, command: "mysqld" }],
        sockets: { sockets: [listens(3306), listens(33_060)], total: 2, attributed: true },
      }),
      net: fakeNet({}, fakeConnect(handlers)),
    },
  });
  return { value: features[0]?.value, count: features.length, problems };
}

/** A packet of the protocol: length, number, content. */
const packet = (number: number, content: Buffer): string => {
  const head = Buffer.alloc(4);
  head.writeUIntLE(content.length, 0, 3);
  head.writeUInt8(number, 3);
  return Buffer.concat([head, content]).toString("base64");
};
const refusal = (code: number, sqlstate: string, text: string): string => {
  const head = Buffer.from([0xff, code & 0xff, code >> 8]);
  return packet(2, Buffer.concat([head, Buffer.from(`#${sqlstate}${text}`)]));
};
const answers = (...rest: readonly string[]): Handler => replay({ first: true, answers: [greeting, ...rest] });

test.each<[string, Handler, string]>([
  ["a wrong password", answers(refusal(1045, "28000", "Access denied for user")), "denied"],
  ["too many connections", answers(refusal(1040, "08004", "Too many connections")), "unavailable"],
  [
    "a server that asks for a file of ours",
    answers(recording.answers[1] ?? "", packet(1, Buffer.from("\xfb/etc/passwd", "latin1"))),
    "unexpected",
  ],
  ["another protocol", (socket) => void socket.write("SSH-2.0-OpenSSH_9\r\n"), "unexpected"],
  ["silence", () => undefined, "down"],
  ["a cut after the greeting", (socket) => void socket.end(Buffer.from(greeting, "base64")), "unexpected"],
])("%s is a state without figures", async (_, handler, state) => {
  const { value, problems } = await crawl({ 3306: handler });
  expect(value).toMatchObject({ state, "mysql.uptime": null });
  expect(JSON.stringify([value, problems])).not.toMatch(/s3cret|root:/);
});

test("a server that asks for the password in the clear does not get it", async () => {
  const request = packet(2, Buffer.from("\xfemysql_clear_password\0", "latin1"));
  const heard: Uint8Array[] = [];
  const { value } = await crawl({
    3306: (socket) => {
      socket.on("data", (chunk: Uint8Array) => heard.push(chunk));
      answers(request)(socket);
    },
  });
  expect(value).toMatchObject({ state: "unexpected" });
  expect(Buffer.concat(heard).toString("latin1")).toContain("trawler");
  expect(Buffer.concat(heard).toString("latin1")).not.toContain("s3cret");
});

test("the X protocol's port is not asked", async () => {
  expect((await crawl({ 3306: replay(recording) })).count).toBe(1);
});

test("parity A7: a dead endpoint is down, and a problem", async () => {
  const { value, problems } = await crawl({});
  expect(value).toMatchObject({ state: "down" });
  expect(problems).toEqual([expect.stringMatching(/^unavailable 3306/)]);
});
