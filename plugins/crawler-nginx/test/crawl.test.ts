import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { fakeClock, listens } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { crawl, PAGE, PATHS, page, server } from "./fake-nginx.ts";

describe("nginx crawler, against fake servers that fail on purpose", () => {
  test("reads the page by one GET that says who asks", async () => {
    const { handler, asked, heads } = server({ "/stub_status": page(PAGE) });
    const { first, features } = await crawl({ handlers: { 80: handler } });
    expect(features.map(({ type, key }) => `${type} ${key}`)).toEqual(["nginx 80"]);
    expect(first).toMatchObject({ state: "ok", path: "/stub_status", version: "nginx/1.26.0", "nginx.requests": 998 });
    expect(asked).toEqual(["/stub_status"]);
    expect(heads[0]).toContain(`user-agent: trawler/${manifest.version}\r\n`);
  });

  test("finds the page elsewhere and asks only there afterwards", async () => {
    const other = server({});
    const { handler, asked } = server({ "/basic_status": page(PAGE) });
    const scene = {
      handlers: { 80: other.handler, 8080: handler },
      sockets: [listens(80), listens(8080)],
      context: { state: new Map(), clock: fakeClock() },
    };
    for (let round = 0; round < 5; round++) expect((await crawl(scene)).first).toMatchObject({ state: "ok" });
    expect(other.asked).toEqual(PATHS);
    expect(asked).toEqual([...PATHS.slice(0, 3), ...Array(4).fill("/basic_status")]);
  });

  test("where there is no page it looks once in five minutes and says so in each frame", async () => {
    const { handler, asked } = server({});
    const clock = fakeClock();
    const scene = { handlers: { 80: handler }, context: { state: new Map(), clock } };
    const expected = { state: "status_unavailable", reason: "answers 404: no status page there", "server.port": 80 };
    for (let slot = 0; slot < 29; slot++) {
      expect((await crawl(scene)).first).toEqual(expected);
      clock.advance(10_000);
    }
    expect(asked).toHaveLength(PATHS.length);
    clock.advance(10_000);
    await crawl(scene);
    expect(asked).toHaveLength(2 * PATHS.length);
    expect(scene.context.state.size).toBeLessThan(4);
  });

  test("a page that goes away costs one request a crawl until the next round, and is found again", async () => {
    const gone = server({});
    const back = server({ "/stub_status": page(PAGE) });
    const context = { state: new Map(), clock: fakeClock() };
    const states = [];
    for (const { handler } of [back, gone, gone, back])
      states.push((await crawl({ handlers: { 80: handler }, context })).first);
    expect(states.map((value) => Reflect.get(value, "state"))).toEqual([
      "ok",
      "status_unavailable",
      "status_unavailable",
      "ok",
    ]);
    expect(gone.asked).toHaveLength(2);
  });

  test.each([
    ["403 Forbidden", "answers 403: not allowed for our address"],
    ["401 Unauthorized", "answers 401: it asks for a password"],
    ["503 Service Unavailable", "answers 503"],
  ])("C112: %s is status_unavailable", async (status, reason) => {
    const { handler } = server({ "/stub_status": page("", [], status) });
    const { first } = await crawl({ handlers: { 80: handler } });
    expect(first).toMatchObject({ state: "status_unavailable", reason });
  });

  test("C112: a redirect is not followed", async () => {
    const elsewhere = server({ "/stub_status": page(PAGE) });
    const { handler, asked } = server({
      "/stub_status": page("", ["Location: http://localhost:8080/stub_status"], "301 Moved Permanently"),
    });
    const { first } = await crawl({
      handlers: { 80: handler, 8080: elsewhere.handler },
      config: { paths: ["/stub_status"] },
    });
    expect(first).toMatchObject({ state: "status_unavailable", reason: "answers 301: it redirects elsewhere" });
    expect([asked.length, elsewhere.asked.length]).toEqual([1, 0]);
  });

  test("C111: another page on that path gives its kind and no numbers", async () => {
    const { handler } = server({ "/status": page("pool: www\naccepted conn: 6") });
    const { first } = await crawl({ handlers: { 80: handler } });
    expect(first).toEqual({ state: "not_stub_status", reason: "a php-fpm status page", "server.port": 80 });
  });

  test("C114: a page that is compressed unasked is read", async () => {
    const { handler } = server({ "/stub_status": page(gzipSync(PAGE), ["Content-Encoding: gzip"]) });
    expect((await crawl({ handlers: { 80: handler } })).first).toMatchObject({ state: "ok", "nginx.requests": 998 });
  });

  test("C114: a page in chunks is read", async () => {
    const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
    const body = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(PAGE.slice(0, 9))}${chunk(PAGE.slice(9))}${chunk("")}`;
    const { handler } = server({ "/stub_status": Buffer.from(body) });
    expect((await crawl({ handlers: { 80: handler } })).first).toMatchObject({ state: "ok" });
  });

  const paths = { paths: ["/stub_status"] };

  test.each([
    ["a compression bomb", page(gzipSync(Buffer.alloc(50_000_000)), ["Content-Encoding: gzip"])],
    ["an unknown encoding", page(PAGE, ["Content-Encoding: br"])],
    [
      "a body of 50 MB",
      page("", ["X: y"]).subarray(0, -2).toString().replace("Content-Length: 0", "Content-Length: 50000000"),
    ],
    ["endless headers", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n`],
    ["no HTTP", "SSH-2.0-OpenSSH_9.9\r\n"],
  ])("C114: %s is refused", async (_, answer) => {
    const { handler } = server({ "/stub_status": Buffer.concat([Buffer.from(answer), Buffer.from("\r\n")]) });
    const { first } = await crawl({ handlers: { 80: handler }, config: paths });
    expect(["not_stub_status", "down"]).toContain(first["state"]);
  });

  test("C114: an endless body ends at the cap", async () => {
    let sent = 0;
    const flood = (socket: Socket): void => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536, "x"))) sent += 65_536;
      };
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        more();
      });
      socket.on("drain", more);
    };
    const { first } = await crawl({ handlers: { 80: flood }, config: paths });
    expect(first["state"]).toBe("not_stub_status");
    expect(sent).toBeLessThan(64 * 1_048_576);
  });

  test("C114: a slow drip and silence cost their own deadline", async () => {
    const drip = (socket: Socket): void => {
      const timer = setInterval(() => socket.write("x"), 10);
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"));
      socket.once("close", () => clearInterval(timer));
    };
    const config = { ...paths, timeout: "100ms" };
    expect((await crawl({ handlers: { 80: drip }, config })).first).toMatchObject({
      reason: "no whole answer in time",
    });
    const silent = (socket: Socket): void => void socket.resume();
    expect((await crawl({ handlers: { 80: silent }, config })).first).toMatchObject({ state: "down" });
  });

  test("C114: a server that closes its connections is asked anew each time", async () => {
    const { handler } = server({ "/stub_status": page(PAGE, ["Connection: keep-alive"]) });
    const context = { state: new Map(), clock: fakeClock() };
    for (let round = 0; round < 3; round++) {
      expect((await crawl({ handlers: { 80: handler }, context })).first).toMatchObject({ state: "ok" });
    }
  });

  test("a port that speaks TLS is asked once", async () => {
    const html = "<html>400 The plain HTTP request was sent to HTTPS port</html>";
    const bad = page(html, [], "400 Bad Request");
    const { handler, asked } = server(Object.fromEntries(PATHS.map((path) => [path, bad])));
    const { first } = await crawl({ handlers: { 80: handler } });
    expect([first["state"], asked.length]).toEqual(["tls_required", 1]);
  });

  test("C115: the commercial API is asked in the newest version that it lists", async () => {
    const { handler, asked } = server({
      "/api/": page("[1,2,3,4]"),
      "/api/4/connections": page('{"accepted":9007199254740993,"dropped":2,"active":3,"idle":1}'),
      "/api/4/http/requests": page('{"total":77,"current":1}'),
    });
    const { first } = await crawl({ handlers: { 80: handler }, config: { paths: ["/api"] } });
    expect(first).toMatchObject({
      state: "ok",
      "nginx.connections_accepted": 9_007_199_254_740_993n,
      "nginx.connections_handled": 9_007_199_254_740_991,
      "nginx.connections_current.waiting": 1,
      "nginx.connections_current.reading": null,
      "nginx.requests": 77,
    });
    expect(asked).toEqual(["/api/", "/api/4/connections", "/api/4/http/requests"]);
  });

  test("C115: a version without what it promises is unsupported", async () => {
    const { handler } = server({ "/api/": page("[4]") });
    const { first } = await crawl({ handlers: { 80: handler }, config: { paths: ["/api"] } });
    expect(first).toMatchObject({ state: "unsupported" });
  });

  test("an annotation names port and path; one that cannot be is a problem", async () => {
    const { handler, asked } = server({ "/my?a=b": page(PAGE) });
    const scene = { handlers: { 8081: handler }, sockets: [listens(8081)] };
    const ask = (annotation: Record<string, unknown>) =>
      crawl({ ...scene, context: { asked: "annotation", annotation } });
    expect((await ask({ port: 8081, path: "/my?a=b" })).first).toMatchObject({ state: "ok" });
    expect(asked).toEqual(["/my?a=b"]);
    for (const annotation of [
      { port: "http" },
      { port: 0 },
      { path: "http://example.test/" },
      { path: "/a\r\nb" },
      { path: 1 },
    ]) {
      const { features, problems } = await ask(annotation);
      expect([features.length, problems.length]).toEqual([0, 1]);
    }
    expect(asked).toHaveLength(1);
  });

  test("an annotation for a port that nobody here holds is answered, and nothing is asked", async () => {
    const { handler, asked } = server({ "/stub_status": page(PAGE) });
    const { first } = await crawl({
      handlers: { 8081: handler },
      sockets: [listens(8081, null)],
      context: { asked: "annotation", annotation: { port: 8081 } },
    });
    expect([first["state"], first["server.port"], asked]).toEqual(["down", 8081, []]);
  });

  test("many failing crawls leave no handle behind", async () => {
    const before = process.getActiveResourcesInfo().length;
    const cut = { handlers: { 80: (socket: Socket) => void socket.resume().end("HTTP/1.1 200") } };
    for (let round = 0; round < 50; round++) await crawl(round % 2 ? cut : { handlers: {} });
    await expect.poll(() => process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before + 2);
  });
});
