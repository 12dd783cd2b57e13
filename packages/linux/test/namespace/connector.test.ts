import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { errorCode } from "@trawler/plugin-api";
import { afterEach, describe, expect, test } from "vitest";
import { NamespaceConnector } from "../../src/index.ts";
import { openDescriptors, Sandbox, whyNoNamespaces } from "./sandbox.ts";

const reason = whyNoNamespaces();
const procRoot = "/proc";
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function connector(worker?: URL): NamespaceConnector {
  const made = new NamespaceConnector(worker === undefined ? {} : { worker });
  cleanups.push(() => made[Symbol.asyncDispose]());
  return made;
}

function sandbox(linked = false): Sandbox {
  const made = new Sandbox(linked);
  cleanups.push(() => made[Symbol.asyncDispose]());
  return made;
}

async function hear(socket: Socket): Promise<string> {
  try {
    return await text(socket);
  } finally {
    socket.destroy();
  }
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return "connected";
  } catch (error) {
    return errorCode(error);
  }
}

/** A worker that may not enter anything, as without CAP_SYS_ADMIN. */
function refusing(code: string): URL {
  const source = `import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ id }) => parentPort.postMessage({ id, code: ${JSON.stringify(code)} }));`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

describe.skipIf(reason !== null)(
  `NamespaceConnector inside a namespace${reason === null ? "" : ` (skipped: ${reason})`}`,
  () => {
    test("parity N1: reaches a server bound to loopback inside, while this process stays outside", async () => {
      const inside = sandbox();
      const { pid, ports } = await inside.listen("127.0.0.1:0");
      const port = ports[0] ?? 0;
      const connect = connector();
      expect(await hear(await connect.connect({ pid, procRoot }, { port }))).toBe("hello from 127.0.0.1:0");
      // The same port here is nobody's.
      expect(await codeOf(connect.connect({ pid: process.pid, procRoot }, { port }))).toBe("TRAWLER_UNAVAILABLE");
    });

    test("reaches the IPv6 loopback and the own address, and serves many namespaces in turn", async () => {
      const first = sandbox(true);
      const { address } = first;
      const second = sandbox();
      const one = await first.listen("::1:0", `${address}:0`);
      const two = await second.listen("127.0.0.1:0");
      const connect = connector();
      const member = { pid: one.pid, procRoot, addresses: [address] };
      const heard = await Promise.all([
        connect.connect(member, { port: one.ports[0] ?? 0 }).then(hear),
        connect.connect(member, { port: one.ports[1] ?? 0 }).then(hear),
        connect.connect({ pid: two.pid, procRoot }, { port: two.ports[0] ?? 0 }).then(hear),
        connect.connect(member, { port: one.ports[1] ?? 0, host: address }).then(hear),
      ]);
      expect(heard).toEqual([
        "hello from ::1:0",
        `hello from ${address}:0`,
        "hello from 127.0.0.1:0",
        `hello from ${address}:0`,
      ]);
    });

    test("reaches an abstract unix socket, which belongs to the namespace", async () => {
      const inside = sandbox();
      const { pid } = await inside.listen("unix:@trawler-test");
      const connect = connector();
      expect(await hear(await connect.connect({ pid, procRoot }, { unix: "@trawler-test" }))).toContain("hello");
      const here = connect.connect({ pid: process.pid, procRoot }, { unix: "@trawler-test" });
      expect(await codeOf(here)).toBe("TRAWLER_UNAVAILABLE");
    });

    test("parity N6: says unavailable where nothing listens, and gone where the process has ended or is another one", async () => {
      const inside = sandbox();
      const { pid } = await inside.listen("127.0.0.1:0");
      const connect = connector();
      expect(await codeOf(connect.connect({ pid, procRoot }, { port: 9 }))).toBe("TRAWLER_UNAVAILABLE");
      expect(await codeOf(connect.connect({ pid, procRoot, startTicks: 1 }, { port: 9 }))).toBe("TRAWLER_GONE");
      expect(await codeOf(connect.connect({ pid: 2 ** 30, procRoot }, { port: 9 }))).toBe("TRAWLER_GONE");
    });

    test("parity N4: without the right to enter: the pod's address from outside, never the node's loopback", async () => {
      const inside = sandbox(true);
      const { address } = inside;
      const { pid, ports } = await inside.listen(`${address}:0`);
      const port = ports[0] ?? 0;
      const connect = connector(refusing("EPERM"));
      const member = { pid, procRoot, addresses: [address, "127.0.0.1", "169.254.169.254"] };
      expect(await hear(await connect.connect(member, { port }))).toContain("hello");
      expect(await codeOf(connect.connect({ pid, procRoot }, { port }))).toBe("TRAWLER_DENIED");
      expect(await codeOf(connect.connect(member, { port, host: "127.0.0.1" }))).toBe("TRAWLER_DENIED");
      expect(await codeOf(connect.connect(member, { unix: "@any" }))).toBe("TRAWLER_DENIED");
    });

    test("a thread that dies fails only the calls that wait on it: the next call starts another", async () => {
      const inside = sandbox();
      const { pid } = await inside.listen("127.0.0.1:0");
      const dying = new URL(
        `data:text/javascript,${encodeURIComponent(
          `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(1));`,
        )}`,
      );
      const connect = connector(dying);
      expect(await codeOf(connect.connect({ pid, procRoot }, { port: 80 }))).toBe("TRAWLER_RETRY");
      expect(await codeOf(connect.connect({ pid, procRoot }, { port: 80 }))).toBe("TRAWLER_RETRY");
    });

    test("parity N3: a thread that never answers costs its own call its deadline", async () => {
      const inside = sandbox();
      const { pid } = await inside.listen("127.0.0.1:0");
      const silent = new URL("data:text/javascript,setInterval(() => {}, 1000)");
      const connect = connector(silent);
      const work = connect.connect({ pid, procRoot }, { port: 80 }, { timeout: 50 });
      expect(await codeOf(work)).toBe("TRAWLER_PLUGIN_TIMEOUT");
    });

    test("leaks no descriptor, whatever fails", async () => {
      const inside = sandbox();
      const { pid, ports } = await inside.listen("127.0.0.1:0");
      const port = ports[0] ?? 0;
      const connect = connector();
      const once = async (index: number): Promise<void> => {
        const abort = new AbortController();
        const target = index % 4 === 0 ? { port: 9 } : { port };
        const work = connect.connect({ pid, procRoot }, target, { signal: abort.signal });
        if (index % 4 === 1) abort.abort();
        if (index % 4 === 2) queueMicrotask(() => abort.abort());
        try {
          await hear(await work);
        } catch {}
      };
      await once(3);
      const before = openDescriptors();
      await Promise.all(Array.from({ length: 200 }, (_, index) => once(index)));
      await expect.poll(openDescriptors).toBeLessThanOrEqual(before);
    });
  },
);

describe("NamespaceConnector in its own namespace", { timeout: 60_000 }, () => {
  const self = { pid: process.pid, procRoot, allowNodeRoot: true };

  function listen(
    options: { readonly path: string } | { readonly host: string; readonly port: number },
  ): Promise<Server> {
    const server = createServer((socket) => socket.end("hello"));
    cleanups.push(() => server.close());
    return new Promise((resolve, reject) => {
      server.once("error", reject).listen(options, () => resolve(server));
    });
  }

  test("refuses any host that is not the member's, and what is no port", async () => {
    const connect = connector();
    const member = { ...self, addresses: ["10.1.2.3"] };
    for (const host of ["10.1.2.4", "169.254.169.254", "example.test", "fe80::1%eth0", "::ffff:10.9.9.9"]) {
      expect(await codeOf(connect.connect(member, { port: 80, host })), host).toBe("TRAWLER_REFUSED");
    }
    for (const port of [0, -1, 65_536, 1.5, Number.NaN]) {
      expect(await codeOf(connect.connect(member, { port })), String(port)).toBe("TRAWLER_REFUSED");
    }
  });

  test("connects a unix socket by its path in the member's root, and refuses what is no socket", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trawler-unix-"));
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    await listen({ path: join(folder, "app.sock") });
    const connect = connector();
    expect(await hear(await connect.connect(self, { unix: join(folder, "app.sock") }))).toBe("hello");
    expect(await codeOf(connect.connect(self, { unix: join(folder, "none.sock") }))).toBe("TRAWLER_UNAVAILABLE");
    expect(await codeOf(connect.connect(self, { unix: folder }))).toBe("TRAWLER_REFUSED");
    expect(await codeOf(connect.connect(self, { unix: "/proc/self/environ" }))).toBe("TRAWLER_REFUSED");
  });

  test("ends at its deadline and at the caller's signal", async () => {
    const connect = connector();
    const member = { ...self, addresses: ["192.0.2.1"] };
    const stopped = connect.connect(member, { port: 80 }, { signal: AbortSignal.abort() });
    expect(await codeOf(stopped)).toBe("TRAWLER_PLUGIN_TIMEOUT");
  });

  test("parity N5: disposing twice is safe, also when no thread was ever started", async () => {
    const made = new NamespaceConnector();
    await made[Symbol.asyncDispose]();
    await made[Symbol.asyncDispose]();
  });
});
