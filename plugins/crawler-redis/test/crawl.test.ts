import { createConnection, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { errorCode, TrawlerError } from "@trawler/plugin-api";
import { type Handler, listens, selfSigned } from "@trawler/testkit";
import { describe, expect, test, vi } from "vitest";
import { bulk, crawl, INFO, server } from "./fake-redis.ts";

const SECRET = "correct horse";

describe("redis crawler, against fake servers that fail on purpose", () => {
  test("asks INFO once and nothing else", async () => {
    const { handler, asked } = server({ INFO: bulk(INFO) });
    const { first, features, problems } = await crawl({ handlers: { 6379: handler } });
    expect(first).toMatchObject({ state: "ok", version: "7.2.4", role: "primary", "server.port": 6379 });
    expect([features.length, problems, asked]).toEqual([1, [], ["info"]]);
  });

  test("C100: without a password the state is auth_required and no AUTH is sent", async () => {
    const { handler, asked } = server({ INFO: "-NOAUTH Authentication required.\r\n" });
    const { first, problems } = await crawl({ handlers: { 6379: handler } });
    expect(first).toEqual({ state: "auth_required", reason: "NOAUTH Authentication required.", "server.port": 6379 });
    expect([problems, asked]).toEqual([["denied: 6379: NOAUTH Authentication required."], ["info"]]);
  });

  test.each([
    ["-WRONGPASS invalid username-password pair or user is disabled.\r\n", { password: SECRET }],
    ["-ERR wrong number of arguments for 'auth' command\r\n", { username: "trawler", password: SECRET }],
    ["-ERR invalid password\r\n", { password: SECRET }],
  ])("C100: a refused password is auth_failed after one attempt and is never told (%#)", async (reply, config) => {
    const { handler, asked } = server({ INFO: "-NOAUTH Authentication required.\r\n", AUTH: reply });
    const logged = vi.spyOn(console, "warn");
    const seen = await crawl({ handlers: { 6379: handler }, config });
    expect(seen.first["state"]).toBe("auth_failed");
    expect(asked.map((command) => command.split(" ", 1)[0])).toEqual(["info", "auth"]);
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(logged).not.toHaveBeenCalled();
    logged.mockRestore();
  });

  test("a password that a server asks for is sent once, with its user", async () => {
    const { handler, asked } = server({
      INFO: (before) => (before.length > 1 ? bulk(INFO) : "-NOAUTH Authentication required.\r\n"),
      AUTH: "+OK\r\n",
    });
    const { first } = await crawl({ handlers: { 6379: handler }, config: { username: "trawler", password: SECRET } });
    expect(first["state"]).toBe("ok");
    expect(asked).toEqual(["info", `auth trawler ${SECRET}`, "info"]);
  });

  test.each([
    ["-LOADING Redis is loading the dataset in memory\r\n", "loading"],
    ["-NOPERM this user has no permissions to run the 'info' command\r\n", "denied"],
    ["-DENIED Redis is running in protected mode\r\n", "denied"],
    ["-ERR unknown command 'INFO'\r\n", "denied"],
    ["-ERR max number of clients reached\r\n", "busy"],
    ["-MASTERDOWN Link with MASTER is down\r\n", "down"],
    ["-SOMETHING new\r\n", "invalid"],
    [bulk("not an info"), "not_redis"],
  ])("C102, C103: the reply %j gives its state", async (reply, state) => {
    const { handler } = server({ INFO: reply });
    const { first } = await crawl({ handlers: { 6379: handler } });
    expect(first["state"]).toBe(state);
  });

  test("C102: INFO of a server that loads gives figures at once", async () => {
    const { handler, asked } = server({
      INFO: bulk(`${INFO}loading:1\r\nloading_eta_seconds:12\r\n`),
      PING: "-LOADING\r\n",
    });
    const { first } = await crawl({ handlers: { 6379: handler } });
    expect(first).toMatchObject({ state: "loading", version: "7.2.4", "redis.loading.eta": 12 });
    expect(asked).toEqual(["info"]);
  });

  test("a refusal that comes before the question is heard", async () => {
    const { first } = await crawl({ handlers: { 6379: (socket) => socket.end("-DENIED protected mode\r\n") } });
    expect(first).toMatchObject({ state: "denied", reason: "DENIED protected mode" });
  });

  test("C105: a refused connection is the state down", async () => {
    const { first, problems } = await crawl({ handlers: {} });
    expect([first["state"], problems.length]).toEqual(["down", 1]);
  });

  test("C105: a server that takes the connection and says nothing costs its own deadline", async () => {
    const { first } = await crawl({ handlers: { 6379: () => undefined }, config: { timeout: "50ms" } });
    expect(first).toMatchObject({ state: "down", reason: "no whole answer in time" });
  });

  test("C105: a reset within the answer is the state down", async () => {
    const cut = (socket: Socket): void => {
      socket.once("data", () => socket.write("$500\r\nredis_ver", () => socket.resetAndDestroy()));
    };
    const { first } = await crawl({ handlers: { 6379: cut } });
    expect(first).toMatchObject({ state: "down", reason: "closed within the answer" });
  });

  test("C105: many failing crawls leave no handle and no error behind", async () => {
    const before = process.getActiveResourcesInfo().length;
    const silent = { handlers: { 6379: (socket: Socket) => void socket.resume().end() } };
    for (let round = 0; round < 100; round++) await crawl(round % 2 ? silent : { handlers: {} });
    await expect.poll(() => process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before + 2);
  });

  test("C106: a TLS port is tls_required", async () => {
    const alert = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]);
    const { first } = await crawl({
      handlers: { 6379: (socket) => void socket.once("data", () => socket.end(alert)) },
    });
    expect(first).toMatchObject({ state: "tls_required" });
  });

  test("C106: a TLS port that ends plain connections without a word is tls_required, one that ends all is down", async () => {
    const { cert, key } = selfSigned();
    const ends: Handler = (socket) => void socket.once("data", () => socket.end());
    let calls = 0;
    const { first } = await crawl({
      handlers: {
        6379: (socket) => {
          if (++calls === 1) return ends(socket);
          new TLSSocket(socket, { isServer: true, cert, key }).on("error", () => socket.destroy());
        },
      },
    });
    expect(first).toMatchObject({ state: "tls_required" });
    expect((await crawl({ handlers: { 6379: ends } })).first).toMatchObject({ state: "down" });
  });

  describe("C106: over TLS", () => {
    const { cert, key } = selfSigned();
    /** Ends TLS for the handler: what it is given is plain. */
    const overTls =
      (handler: Handler): Handler =>
      (socket) => {
        const encrypted = new TLSSocket(socket, { isServer: true, cert, key });
        encrypted.on("error", () => socket.destroy());
        handler(encrypted);
      };

    test("a server whose certificate is trusted is asked, its password sent within", async () => {
      const { handler, asked } = server({
        INFO: (all) => (all.includes(`auth ${SECRET}`) ? bulk(INFO) : "-NOAUTH\r\n"),
        AUTH: "+OK\r\n",
      });
      const { first, problems } = await crawl({
        config: { tls: { ca: cert }, password: SECRET },
        handlers: { 6379: overTls(handler) },
      });
      expect(first, problems.join()).toMatchObject({ state: "ok", version: "7.2.4" });
      expect(asked).toContain(`auth ${SECRET}`);
    });

    test.each([
      ["signed by nobody that is known", {}, /SELF_SIGNED|UNABLE_TO/],
      ["of another name", { ca: cert, serverName: "redis.example.test" }, /ERR_TLS_CERT_ALTNAME_INVALID/],
    ])("a certificate %s is cert_invalid, and nothing is asked", async (_, tls, reason) => {
      const { handler, asked } = server({ INFO: bulk(INFO) });
      const { first, problems } = await crawl({
        config: { tls, password: SECRET },
        handlers: { 6379: overTls(handler) },
      });
      expect(first).toMatchObject({ state: "cert_invalid", reason: expect.stringMatching(reason) });
      expect(problems).toEqual([expect.stringMatching(/^denied: 6379: /)]);
      expect(asked).toEqual([]);
    });

    test.each([
      [
        "answers in its own words",
        (socket: Socket) => void socket.once("data", () => socket.end("-ERR unknown\r\n")),
        "2s",
      ],
      ["says nothing", (socket: Socket) => void socket.resume(), "100ms"],
      ["closes", (socket: Socket) => void socket.resume().end(), "2s"],
    ])("a plain port that %s is not_tls", async (_, handler, timeout) => {
      const { first } = await crawl({ config: { tls: { ca: cert }, timeout }, handlers: { 6379: handler } });
      expect(first).toMatchObject({ state: "not_tls" });
    });
  });

  test("C108: what is no Redis gets no AUTH", async () => {
    const asked: string[] = [];
    const { first } = await crawl({
      config: { password: SECRET },
      handlers: {
        6379: (socket) =>
          void socket.on("data", (chunk) => {
            asked.push(chunk.toString());
            socket.write("ERROR\r\n");
          }),
      },
    });
    expect(first["state"]).toBe("not_redis");
    expect(asked.join("")).not.toContain(SECRET);
  });

  test.each([
    ["an array of any length", "*30000000\r\n", "not_redis"],
    ["a huge declared text", "$536870912\r\n", "invalid"],
    ["nested arrays", "*1\r\n".repeat(10_000), "not_redis"],
  ])("a hostile server that declares %s is refused", async (_, reply, state) => {
    const { handler } = server({ INFO: reply });
    const asked = await crawl({ handlers: { 6379: handler } });
    const unasked = await crawl({ handlers: { 6379: (socket) => void socket.write(reply) } });
    expect([asked.first["state"], unasked.first["state"]]).toEqual([state, state]);
  });

  test("an endless answer ends at the cap", async () => {
    let sent = 0;
    const flood = (socket: Socket): void => {
      const chunk = Buffer.alloc(65_536, "x");
      const more = (): void => {
        while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
      };
      socket.once("data", () => {
        socket.write("$1048570\r\n");
        more();
      });
      socket.on("drain", more);
    };
    const { first } = await crawl({ handlers: { 6379: flood } });
    expect(first["state"]).toBe("invalid");
    expect(sent).toBeLessThan(64 * 1_048_576);
  });

  test("a slow drip costs its own deadline", async () => {
    const drip = (socket: Socket): void => {
      const timer = setInterval(() => socket.write("x"), 10);
      socket.once("data", () => socket.write("$1000\r\n"));
      socket.once("close", () => clearInterval(timer));
    };
    const { first } = await crawl({ handlers: { 6379: drip }, config: { timeout: "100ms" } });
    expect(first).toMatchObject({ state: "down" });
  });

  test("a process that listens nowhere is down", async () => {
    const { first, problems } = await crawl({ sockets: [] });
    expect(problems).toEqual(["unavailable: its process runs but does not listen"]);
    expect(first).toEqual({ state: "down", reason: "its process runs but does not listen", "server.port": null });
  });

  test("an annotation points at a port; one that is no port is a problem", async () => {
    const { handler } = server({ INFO: bulk(INFO) });
    const scene = { handlers: { 7000: handler }, sockets: [listens(7000), listens(6379)] };
    const { features } = await crawl({ ...scene, context: { asked: "annotation", annotation: { port: "7000" } } });
    expect(features.map(({ key }) => key)).toEqual(["7000"]);
    const wrong = await crawl({ ...scene, context: { asked: "annotation", annotation: { port: { $gt: 1 } } } });
    expect([wrong.features, wrong.problems.length]).toEqual([[], 1]);
  });

  test("reports databases, and commands where asked for", async () => {
    const { handler, asked } = server({
      INFO: bulk(`${INFO}cmdstat_get:calls=7,usec=70\r\ndb0:keys=2,expires=0,avg_ttl=0\r\n`),
    });
    const { features } = await crawl({ handlers: { 6379: handler }, config: { commands: true } });
    expect(features.map(({ type, key }) => `${type} ${key}`)).toEqual([
      "redis 6379",
      "redisDatabase 6379/db0",
      "redisCommand 6379/get",
    ]);
    expect(asked).toEqual(["info everything"]);
  });

  test("C30: an annotation for a port that nobody here holds is answered, and nothing is asked", async () => {
    const { handler, asked } = server({ INFO: bulk(INFO) });
    const { first } = await crawl({
      handlers: { 7000: handler },
      sockets: [listens(7000, null)],
      command: "sleep",
      context: { asked: "annotation", annotation: { port: 7000 } },
    });
    expect([first["state"], asked]).toEqual(["down", []]);
  });

  test("an address that may not be asked is denied", async () => {
    const connect = async () => {
      throw new TrawlerError("TRAWLER_REFUSED", "the host is none of the pod's own addresses");
    };
    expect((await crawl({ connect })).first["state"]).toBe("denied");
  });

  test("a member that has gone is no state of Redis", async () => {
    const connect = async () => {
      throw new TrawlerError("TRAWLER_GONE", "the container has ended");
    };
    await expect(crawl({ connect }).catch(errorCode)).resolves.toBe("TRAWLER_GONE");
  });

  test("a socket that fails while it is handed over is the state down", async () => {
    const connect = async () => createConnection({ port: 1, host: "127.0.0.1" });
    const { first } = await crawl({ connect });
    expect(first["state"]).toBe("down");
  });
});
