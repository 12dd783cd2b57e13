import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { errorCode, errorMessage } from "@trawler/plugin-api";
import { type FakeApiOptions, fakeApi, selfSigned } from "@trawler/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { createApiClient } from "../src/api/client.ts";
import { kubeconfigTarget } from "../src/api/kubeconfig.ts";
import { proxyFor } from "../src/api/proxy.ts";
import { inClusterTarget, tokenTarget } from "../src/api/target.ts";

const folder = mkdtempSync(join(tmpdir(), "trawler-api-"));
afterAll(() => rmSync(folder, { recursive: true }));

const PODS = "/api/v1/pods";
const request = { what: "list pods", path: PODS };

async function client(options: FakeApiOptions, tokenFile?: string) {
  const api = await fakeApi(options);
  const target = tokenTarget({ server: api.url, ...(tokenFile === undefined ? {} : { tokenFile }) });
  const created = createApiClient({ target });
  const close = async (): Promise<void> => {
    created[Symbol.dispose]();
    await api[Symbol.asyncDispose]();
  };
  return { api, client: created, [Symbol.asyncDispose]: close };
}

async function thrown(call: Promise<unknown>): Promise<{ code: string | undefined; message: string }> {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { code: errorCode(error), message: errorMessage(error) };
}

describe("requests", () => {
  test("a rotated token is read again and used at once", async () => {
    const file = join(folder, "token");
    writeFileSync(file, "old-token-1\n");
    await using world = await client({ token: "old-token-1" }, file);
    await world.client.get(request);
    writeFileSync(file, "new-token-22\n");
    world.api.token = "new-token-22";
    await expect(world.client.get(request)).resolves.toMatchObject({ kind: "List" });
  });

  test("a refused token is tried once more and never shown", async () => {
    const file = join(folder, "wrong");
    writeFileSync(file, "s3cr3t-token");
    await using world = await client({ token: "right" }, file);
    const { code, message } = await thrown(world.client.get(request));
    expect(code).toBe("TRAWLER_DENIED");
    expect(message).toMatch(/^list pods: 401/);
    expect(message).not.toContain("s3cr3t");
    expect(world.api.requests.length).toBe(2);
  });

  test("a server that echoes the token does not get it into a message", async () => {
    await using world = await client({});
    world.api.fault = () => ({ status: 400, body: { message: "bad header: Bearer s3cr3t.to_ken-x\nline two" } });
    const { message } = await thrown(world.client.get(request));
    expect(message).toBe("list pods: 400 from the API server: bad header: Bearer [redacted] line two");
  });

  test("a mute server ends with the call's deadline", async () => {
    await using world = await client({});
    world.api.fault = () => ({ mute: true });
    const get = await thrown(world.client.get({ ...request, timeout: 50 }));
    expect(get.code).toBe("TRAWLER_UNAVAILABLE");
    expect(get.message).toMatch(/^list pods: cannot reach http:\/\/127\.0\.0\.1:\d+: no answer in time$/);
    const stream = await thrown(world.client.stream({ ...request, timeout: 50 }));
    expect(stream.code).toBe("TRAWLER_UNAVAILABLE");
  });

  test("the caller's signal ends a call", async () => {
    await using world = await client({});
    world.api.fault = () => ({ mute: true });
    const stop = new AbortController();
    const call = thrown(world.client.get({ ...request, signal: stop.signal }));
    stop.abort();
    expect((await call).code).toBe("TRAWLER_UNAVAILABLE");
  });

  test("an answer over the bound is refused", async () => {
    await using world = await client({});
    world.api.fault = () => ({ status: 200, body: "x".repeat(5000) });
    expect((await thrown(world.client.get({ ...request, maxBytes: 1000 }))).code).toBe("TRAWLER_LIMIT");
  });

  test.each([
    [403, "TRAWLER_DENIED"],
    [404, "TRAWLER_UNSUPPORTED"],
    [410, "TRAWLER_GONE"],
    [429, "TRAWLER_RETRY"],
    [302, "TRAWLER_UNAVAILABLE"],
    [503, "TRAWLER_UNAVAILABLE"],
  ])("status %i is %s, also without a body", async (status, code) => {
    await using world = await client({});
    world.api.fault = () => ({ status, body: "<html>", headers: { location: "http://elsewhere.example.test/" } });
    expect((await thrown(world.client.get(request))).code).toBe(code);
    expect(world.api.requests.length).toBe(1);
  });

  test("an answer that is no JSON is an error, not a crash", async () => {
    await using world = await client({});
    world.api.fault = () => ({ status: 200, body: "<html>" });
    expect((await thrown(world.client.get(request))).message).toBe("list pods: the answer is no JSON");
  });
});

describe("calls", () => {
  async function server() {
    const seen: { method: string | undefined; length: string | undefined; body: string }[] = [];
    let status = 201;
    const http = createServer((incoming, response) => {
      void (async () => {
        const body = await text(incoming);
        seen.push({ method: incoming.method, length: incoming.headers["content-length"], body });
        response.writeHead(status, { "retry-after": "7" }).end(JSON.stringify({ reason: "Any" }));
      })();
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const address = http.address();
    const port = typeof address === "object" ? address?.port : 0;
    const created = createApiClient({ target: tokenTarget({ server: `http://127.0.0.1:${port}` }) });
    return {
      seen,
      client: created,
      answer: (code: number) => {
        status = code;
      },
      [Symbol.dispose]: () => {
        created[Symbol.dispose]();
        http.close();
        http.closeAllConnections();
      },
    };
  }

  test("the body of a DELETE arrives with its length, so that its preconditions hold", async () => {
    using world = await server();
    const body = JSON.stringify({ preconditions: { uid: "ä" } });
    const answer = await world.client.call({ what: "delete", method: "DELETE", path: "/x", body });
    expect(answer).toEqual({ status: 201, body: { reason: "Any" }, retryAfter: 7 });
    expect(world.seen).toEqual([{ method: "DELETE", length: String(Buffer.byteLength(body)), body }]);
  });

  test("an answer that is no success is handed over; a refused token is tried once more", async () => {
    using world = await server();
    world.answer(422);
    const request = { what: "create", method: "POST", path: "/x", body: "{}" } as const;
    expect(await world.client.call(request)).toMatchObject({ status: 422, body: { reason: "Any" } });
    world.answer(401);
    expect(await world.client.call(request)).toMatchObject({ status: 401 });
    expect(world.seen).toHaveLength(3);
  });

  test("no answer is an error, since it is not known what the server did", async () => {
    await using world = await client({});
    world.api.fault = () => ({ reset: true });
    const call = world.client.call({ what: "create", method: "POST", path: PODS, body: "{}" });
    expect((await thrown(call)).code).toBe("TRAWLER_UNAVAILABLE");
  });
});

describe("targets", () => {
  test("in a pod: address, token and certificates of the service account", async () => {
    expect(inClusterTarget({})).toBeNull();
    writeFileSync(join(folder, "token"), "t\n");
    writeFileSync(join(folder, "ca.crt"), "pem");
    const environment = { KUBERNETES_SERVICE_HOST: "2001:db8::1", KUBERNETES_SERVICE_PORT: "443" };
    const target = inClusterTarget(environment, folder);
    expect(target?.server.href).toBe("https://[2001:db8::1]/");
    expect(await target?.credentials(false)).toEqual({ authorization: "Bearer t", headers: {}, tls: { ca: "pem" } });
  });

  test("a missing token file is named, with its reason", async () => {
    const target = tokenTarget({ server: "https://192.0.2.1", tokenFile: join(folder, "none") });
    expect((await thrown(target.credentials(false))).message).toMatch(/^cannot read .*none: ENOENT$/);
  });

  test("a kubeconfig file with a token", async () => {
    const tls = selfSigned();
    const api = await fakeApi({ token: "from-file", tls });
    const path = join(folder, "kubeconfig");
    const authority = Buffer.from(tls.cert).toString("base64");
    const cluster = { name: "c", cluster: { server: api.url, "certificate-authority-data": authority } };
    const user = { name: "u", user: { token: "from-file" } };
    const context = { name: "x", context: { cluster: "c", user: "u" } };
    const config = { apiVersion: "v1", kind: "Config", clusters: [cluster], users: [user], contexts: [context] };
    writeFileSync(path, JSON.stringify({ ...config, "current-context": "x" }));
    const created = createApiClient({ target: await kubeconfigTarget(path) });
    await expect(created.get(request)).resolves.toMatchObject({ kind: "List" });
    created[Symbol.dispose]();
    await api[Symbol.asyncDispose]();
  });

  test("a kubeconfig file that is missing or names no cluster", async () => {
    expect((await thrown(kubeconfigTarget(join(folder, "none")))).code).toBe("TRAWLER_CONFIG_INVALID");
    const path = join(folder, "empty");
    writeFileSync(path, "apiVersion: v1\nkind: Config\n");
    expect((await thrown(kubeconfigTarget(path))).code).toBe("TRAWLER_CONFIG_INVALID");
  });
});

describe("a kubeconfig file", () => {
  const server = "https://192.0.2.1:6443";
  function write(name: string, user: object, cluster: object = { server }): string {
    const path = join(folder, name);
    const users = [{ name: "u", user }];
    const contexts = [{ name: "x", context: { cluster: "c", user: "u" } }];
    const config = { clusters: [{ name: "c", cluster }], users, contexts, "current-context": "x" };
    writeFileSync(path, JSON.stringify(config));
    return path;
  }

  test.each(["token: s3cr3t: [", "token: *s3cr3t", "token: !s3cr3t x", "- s3cr3t", "s3cr3t"])(
    "that is malformed (%j) is named, not quoted",
    async (text) => {
      const path = join(folder, "malformed");
      writeFileSync(path, `users:\n  ${text}\n`);
      const { code, message } = await thrown(kubeconfigTarget(path));
      expect(code).toBe("TRAWLER_CONFIG_INVALID");
      expect(message).toContain(path);
      expect(message).not.toContain("s3cr3t");
    },
  );

  test("whose server is no URL is refused", async () => {
    expect(await thrown(kubeconfigTarget(write("no-url", {}, { server: "192.0.2.1" })))).toMatchObject({
      code: "TRAWLER_CONFIG_INVALID",
      message: expect.stringMatching(/no URL$/),
    });
  });

  test.each([
    ["prints no JSON", "echo s3cr3t"],
    ["fails", "echo s3cr3t >&2; exit 1"],
  ])("with a credential plugin that %s: its words stay out of the message", async (_what, script) => {
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "/bin/sh", args: ["-c", script] };
    const target = await kubeconfigTarget(write("exec", { exec }));
    const { code, message } = await thrown(target.credentials(false));
    expect(code).toBe("TRAWLER_UNAVAILABLE");
    expect(message).not.toContain("s3cr3t");
  });

  test("with a credential plugin that never ends: the call ends with its own deadline", async () => {
    const target = { ...(await kubeconfigTarget(write("mute", {}))), credentials: () => new Promise<never>(() => {}) };
    using created = createApiClient({ target });
    expect(await thrown(created.get({ ...request, timeout: 20 }))).toMatchObject({
      code: "TRAWLER_UNAVAILABLE",
      message: expect.stringMatching(/no answer in time$/),
    });
  });
});

describe("transport security", () => {
  const tls = selfSigned();

  test("an address as the server's name is looked for in its certificate", async () => {
    await using api = await fakeApi({ tls });
    writeFileSync(caFile, tls.cert);
    const url = api.url.replace("127.0.0.1", "localhost");
    const ask = async (server: string, serverName: string): Promise<unknown> => {
      using created = createApiClient({ target: tokenTarget({ server, caFile, serverName }) });
      return await created.get(request).catch(errorMessage);
    };
    expect(await ask(url, "127.0.0.1")).toMatchObject({ kind: "List" });
    expect(await ask(api.url, "192.0.2.1")).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/);
  });

  const caFile = join(folder, "authority.crt");

  test("a server is believed by its CA file only, which is read again when it changes", async () => {
    await using api = await fakeApi({ tls });
    writeFileSync(caFile, selfSigned().cert);
    using created = createApiClient({ target: tokenTarget({ server: api.url, caFile }) });
    expect((await thrown(created.get(request))).message).toMatch(/cannot reach https:.*(SELF_SIGNED|CERT)/);
    rmSync(caFile);
    writeFileSync(caFile, tls.cert);
    await expect(created.get(request)).resolves.toMatchObject({ kind: "List" });
  });

  test("C18: list and watch both go through the proxy, or both past it", async () => {
    await using api = await fakeApi({ tls });
    const asked: string[] = [];
    const proxy = createServer();
    proxy.on("connect", (incoming, socket, head) => {
      asked.push(incoming.url ?? "");
      const onward = connect(Number(new URL(api.url).port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        onward.write(head);
        onward.pipe(socket).pipe(onward);
      });
      onward.on("error", () => socket.destroy());
      socket.on("error", () => onward.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const address = proxy.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    // A name that only the proxy can reach; its certificate is the fake server's.
    const target = { ...tokenTarget({ server: "https://api.example.test:6443", insecure: true }) };
    const environment = { HTTPS_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: "198.51.100.0/24" };
    {
      using created = createApiClient({ target, environment });
      await created.get(request);
      using stream = await created.stream({ ...request, query: { watch: "true", resourceVersion: "100" } });
      expect(stream.chunks).toBeDefined();
    }
    expect(asked).toEqual(["api.example.test:6443", "api.example.test:6443"].slice(0, asked.length));
    expect(asked.length).toBeGreaterThan(0);
    const through = asked.length;
    using direct = createApiClient({ target: tokenTarget({ server: api.url, insecure: true }), environment });
    await direct.get(request);
    expect(asked.length).toBe(through);
    await new Promise<void>((resolve) => {
      proxy.close(() => resolve());
      proxy.closeAllConnections();
    });
  });
});

describe("proxy", () => {
  const environment = {
    HTTPS_PROXY: "http://proxy.example.test:3128",
    NO_PROXY: ".svc,198.51.100.0/24,localhost, 2001:db8::/32,exact.example.test,192.0.2.7:6443",
  };
  test.each([
    ["https://198.51.100.1", null],
    ["https://198.51.101.1", environment.HTTPS_PROXY],
    ["https://kubernetes.default.svc", null],
    ["https://svc.example.test", environment.HTTPS_PROXY],
    ["https://localhost:6443", null],
    ["https://127.0.0.1:6443", null],
    ["https://[2001:db8::5]:6443", null],
    ["https://[2001:db9::5]:6443", environment.HTTPS_PROXY],
    ["https://exact.example.test", null],
    ["https://below.exact.example.test", null],
    ["https://192.0.2.7:6443", null],
    ["https://192.0.2.7:443", environment.HTTPS_PROXY],
    ["http://192.0.2.9", null],
  ])("C18: %s goes through %s", (url, expected) => {
    expect(proxyFor(new URL(url), environment)).toBe(expected);
  });

  test("C18: the star excepts all, and odd entries except nothing", () => {
    const https_proxy = "http://p.example.test";
    expect(proxyFor(new URL("https://a.example.test"), { https_proxy, no_proxy: "*" })).toBeNull();
    expect(proxyFor(new URL("https://192.0.2.1"), { https_proxy, no_proxy: "192.0.2.0/99,/,::/x,:" })).toBe(
      https_proxy,
    );
    expect(proxyFor(new URL("https://192.0.2.1"), { https_proxy: "" })).toBeNull();
  });
});
