import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server as NetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server, ServerCredentials, status } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCri } from "../src/cri/client.ts";
import { CRI_PROTO } from "../src/cri/protocol.ts";
import { candidateSockets, probeRuntime, RUNTIME_SOCKETS } from "../src/cri/sockets.ts";
import { parseProto } from "../src/grpc/proto.ts";

let folder: string;
let socket: string;
const opened: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cri-"));
  socket = join(folder, "runtime.sock");
});
afterEach(() => {
  for (const server of opened.splice(0)) server.forceShutdown();
  rmSync(folder, { recursive: true, force: true });
});

type Answer = (error: { code: number; details?: string } | null, value?: object) => void;
interface Call {
  readonly request: Readonly<Record<string, unknown>>;
  write(message: object): void;
  end(): void;
}
type Handler = (call: Call, answer: Answer) => void;

/** A real gRPC server on the socket with some of the protocol's methods. */
async function serve(handlers: Readonly<Record<string, Handler>>): Promise<void> {
  const service = fromJSON(parseProto(CRI_PROTO), { longs: String, enums: String })["runtime.v1.RuntimeService"];
  const server = new Server({ "grpc.max_send_message_length": -1 });
  const methods = Object.entries(service ?? {}).filter(([name]) => name in handlers);
  server.addService(Object.fromEntries(methods), Object.assign(Object.create(null), handlers));
  opened.push(server);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
}

const version: Handler = (_call, answer) => answer(null, { runtimeName: "containerd", runtimeVersion: "2.4.2" });

describe("the CRI client", () => {
  it("keeps 64-bit numbers exact and gives enums by name, absent fields as their default", async () => {
    await serve({
      ListContainers: (_call, answer) =>
        answer(null, {
          containers: [
            { id: "a", state: "CONTAINER_RUNNING", createdAt: "9007199254740993001", labels: { tier: "gold" } },
            { id: "b", metadata: { name: "x" } },
          ],
        }),
    });
    using client = await openCri(socket);
    expect(await client.listContainers()).toMatchObject([
      {
        id: "a",
        state: "CONTAINER_RUNNING",
        createdAt: "9007199254740993001",
        labels: { tier: "gold" },
        metadata: null,
      },
      { id: "b", state: "CONTAINER_CREATED", createdAt: "0", labels: {}, metadata: { name: "x", attempt: 0 } },
    ]);
  });

  it("streams events, the first value of an enum being absent on the wire", async () => {
    await serve({
      GetContainerEvents: (call) => {
        call.write({ containerId: "a", createdAt: "1" });
        call.write({ containerId: "a", containerEventType: "CONTAINER_STOPPED_EVENT", createdAt: "2" });
        call.end();
      },
    });
    using client = await openCri(socket);
    const types: string[] = [];
    for await (const event of client.events(new AbortController().signal)) types.push(event.containerEventType);
    expect(types).toEqual(["CONTAINER_CREATED_EVENT", "CONTAINER_STOPPED_EVENT"]);
  });

  it("says that an old runtime has no events", async () => {
    await serve({ Version: version });
    using client = await openCri(socket);
    const read = async (): Promise<void> => {
      for await (const _ of client.events(new AbortController().signal));
    };
    await expect(read()).rejects.toMatchObject({ code: "TRAWLER_UNSUPPORTED" });
  });

  it("ends a stream when the signal aborts", async () => {
    await serve({ GetContainerEvents: () => {} });
    using client = await openCri(socket);
    const stop = new AbortController();
    const events = client.events(stop.signal)[Symbol.asyncIterator]();
    const next = events.next();
    stop.abort(new Error("stopped"));
    await expect(next).rejects.toThrow("stopped");
  });

  it.each([
    [status.NOT_FOUND, "TRAWLER_GONE"],
    [status.PERMISSION_DENIED, "TRAWLER_DENIED"],
    [status.UNKNOWN, "TRAWLER_RETRY"],
  ])("turns status %i into %s", async (code, ours) => {
    await serve({ ContainerStatus: (_call, answer) => answer({ code, details: "no" }) });
    using client = await openCri(socket);
    await expect(client.containerStatus("a")).rejects.toMatchObject({ code: ours });
  });

  it("gives up at its deadline and at an abort", async () => {
    await serve({ Version: () => {} });
    using client = await openCri(socket);
    await expect(client.version({ timeout: 50 })).rejects.toMatchObject({ code: "TRAWLER_PLUGIN_TIMEOUT" });
    const stop = new AbortController();
    const call = client.version({ signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(call).rejects.toThrow("stopped");
  });

  it("refuses a message over 16 MiB", async () => {
    await serve({
      ListContainers: (_call, answer) => answer(null, { containers: [{ id: "x".repeat(17 * 1024 * 1024) }] }),
    });
    using client = await openCri(socket);
    await expect(client.listContainers()).rejects.toMatchObject({ code: "TRAWLER_LIMIT" });
  });

  it("C45: labels that name a prototype stay data", async () => {
    await serve({
      ListContainers: (_call, answer) =>
        answer(null, { containers: [{ id: "a", labels: JSON.parse('{"__proto__":"x","constructor":"y"}') }] }),
    });
    using client = await openCri(socket);
    const [container] = await client.listContainers();
    expect(container?.id).toBe("a");
    expect(Reflect.get({}, "x")).toBeUndefined();
  });
});

describe("probing", () => {
  it("C70: says which sockets are absent, and takes the first that answers", async () => {
    const absent = join(folder, "absent.sock");
    const signal = new AbortController().signal;
    await expect(probeRuntime([absent, socket], { signal })).rejects.toMatchObject({
      code: "TRAWLER_UNAVAILABLE",
      message: `no container runtime answers: ${absent}: absent; ${socket}: absent`,
    });
    await serve({ Version: version });
    const { client, version: found } = await probeRuntime([absent, socket], { signal });
    expect(client.socket).toBe(socket);
    expect(found.runtimeName).toBe("containerd");
    client[Symbol.dispose]();
  });

  it("passes by a socket that is no runtime's", async () => {
    const other: NetServer = createServer((connection) => connection.destroy());
    const mute = join(folder, "other.sock");
    await new Promise<void>((resolve) => other.listen(mute, resolve));
    await serve({ Version: version });
    const { client } = await probeRuntime([mute, socket], { signal: new AbortController().signal, timeout: 30_000 });
    expect(client.socket).toBe(socket);
    client[Symbol.dispose]();
    await new Promise((resolve) => other.close(resolve));
    expect(existsSync(mute)).toBe(false);
  });

  it("tries what is named, else the environment's endpoint, else the usual paths, below the node's root first", () => {
    expect(candidateSockets({ sockets: ["unix:///a.sock", "/b.sock"], endpoint: "unix:///c.sock" })).toEqual([
      "/a.sock",
      "/b.sock",
    ]);
    expect(candidateSockets({ endpoint: "unix:///c.sock" })).toEqual(["/c.sock"]);
    expect(candidateSockets({})).toEqual(RUNTIME_SOCKETS);
    expect(candidateSockets({ endpoint: "/c.sock", root: "/host/" })).toEqual(["/host/c.sock", "/c.sock"]);
  });
});
