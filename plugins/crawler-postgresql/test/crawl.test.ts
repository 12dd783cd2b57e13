import { crawlAlone, fakeConnect, fakeNet, fakeProc, type Handler, listens } from "@trawler/testkit";
import { expect, test } from "vitest";
import postgresql from "../src/index.ts";

// Fakes, for answers that a real server does not give on demand; real ones are crawled by the end-to-end tests.
async function crawl(handlers: Readonly<Record<string, Handler>>, config: object = {}) {
  const { features, problems } = await crawlAlone(postgresql, {
    config: { username: "trawler", password: "s3cret", timeout: "500ms", ...config },
    access: {
      proc: fakeProc({
        commands: [{ pid: 5, command: "postgres" }],
        sockets: { sockets: [listens(5432)], total: 1, attributed: true },
      }),
      net: fakeNet({}, fakeConnect(handlers)),
    },
  });
  return { value: features[0]?.value, problems };
}

/** An ErrorResponse of the protocol (message `E`). */
const refusal = (sqlstate: string, text: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0C${sqlstate}\0M${text}\0\0`);
  const head = Buffer.from("E\0\0\0\0");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
};
const says =
  (answer: string | Buffer): Handler =>
  (socket) =>
    void socket.once("data", () => socket.write(answer));

test.each<[string, Handler, string]>([
  ["a wrong password", says(refusal("28P01", 'password authentication failed for user "trawler"')), "denied"],
  ["a server that starts", says(refusal("57P03", "the database system is starting up")), "unavailable"],
  ["too many connections", says(refusal("53300", "sorry, too many clients already")), "unavailable"],
  ["an unknown database", says(refusal("3D000", 'database "postgres" does not exist')), "unexpected"],
  ["another protocol", says("HTTP/1.1 400 Bad Request\r\n\r\n"), "unexpected"],
  ["silence", () => undefined, "down"],
  ["a cut", (socket) => void socket.once("data", () => socket.destroy()), "down"],
  ["an endless answer", says(Buffer.alloc(5 * 1024 * 1024, "N")), "unexpected"],
])("%s is a state without figures", async (_, handler, state) => {
  const { value, problems } = await crawl({ 5432: handler });
  expect(value).toMatchObject({ state, "postgresql.uptime": null });
  expect(JSON.stringify([value, problems])).not.toContain("s3cret");
});

test("parity A7: a dead endpoint is down, and a problem", async () => {
  const { value, problems } = await crawl({});
  expect(value).toMatchObject({ state: "down" });
  expect(problems).toEqual([expect.stringMatching(/^unavailable 5432/)]);
});
