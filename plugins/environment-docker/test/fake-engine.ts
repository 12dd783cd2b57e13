import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Json = Readonly<Record<string, unknown>>;

/**
 * A fake dockerd on a unix socket, for the faults that a real one does not show on demand: answers that hang, streams
 * that end or are cut, containers that go between two calls. What it says of a healthy container follows the real API.
 */
export class FakeEngine implements AsyncDisposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "trawler-docker-"));
  readonly socket: string = join(this.folder, "docker.sock");
  readonly containers: Map<string, Json> = new Map();
  /** Answers to inspect other than the container's own: a status, or `hang`. */
  readonly faults: Map<string, number | "hang"> = new Map();
  faultMessage = "removal is already in progress";
  readonly requests: string[] = [];
  versions: Json = { ApiVersion: "1.41", MinAPIVersion: "1.12" };
  /** Answer to the history of any image. */
  history: readonly [status: number, body: unknown] = [200, [{ Created: 1, CreatedBy: "COPY app /app", Size: 7 }]];
  /** Bridges by the network's id; any other network is not there. */
  readonly bridges: Map<string, string> = new Map([["n0", "docker0"]]);
  /** Called before the list is answered. */
  onList: () => void = () => undefined;
  #server: Server | undefined;
  readonly #streams: Set<ServerResponse> = new Set();

  async start(): Promise<void> {
    rmSync(this.socket, { force: true });
    const server = createServer((request, response) => this.#answer(request, response));
    this.#server = server;
    await new Promise((resolve) => server.listen(this.socket, () => resolve(undefined)));
  }

  /** As a daemon that goes: all connections end, the socket is removed. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const stream of this.#streams) stream.end();
    server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get streams(): number {
    return this.#streams.size;
  }

  endStreams(): void {
    for (const stream of this.#streams) stream.end();
  }

  /** Writes to all event streams just as it stands. */
  write(text: string | Uint8Array): void {
    for (const stream of this.#streams) stream.write(text);
  }

  emit(action: string, id: string, attributes: Json = {}): void {
    const message = {
      Type: "container",
      Action: action,
      Actor: { ID: id, Attributes: attributes },
      time: 1_764_500_000,
    };
    this.write(`${JSON.stringify({ ...message, timeNano: 1_764_500_000 * 1e9 })}\n`);
  }

  put(container: Json): void {
    this.containers.set(String(container["Id"]), container);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", "http://docker");
    this.requests.push(url.pathname);
    const path = url.pathname.replace(/^\/v[\d.]+/, "");
    const [, id] = /^\/containers\/([^/]+)\/json$/.exec(path) ?? [];
    if (path === "/version") send(response, 200, this.versions);
    else if (path === "/events") this.#stream(response);
    else if (path === "/containers/json") {
      this.onList();
      send(response, 200, [...this.containers.values()].map(short));
    } else if (id !== undefined) this.#inspect(response, id);
    else if (path.startsWith("/images/") && path.endsWith("/history")) send(response, ...this.history);
    else if (path.startsWith("/images/")) send(response, 200, { RepoDigests: [`shop/web@sha256:${"d".repeat(64)}`] });
    else if (path.startsWith("/networks/")) this.#network(response, path.slice("/networks/".length));
    else send(response, 404, { message: "page not found" });
  }

  #inspect(response: ServerResponse, id: string): void {
    const fault = this.faults.get(id);
    if (fault === "hang") return;
    const container = this.containers.get(id);
    if (fault !== undefined) send(response, fault, { message: this.faultMessage });
    else if (container === undefined) send(response, 404, { message: `No such container: ${id}` });
    else send(response, 200, container);
  }

  #network(response: ServerResponse, id: string): void {
    const bridge = this.bridges.get(id);
    if (bridge === undefined) send(response, 404, { message: `network ${id} not found` });
    else send(response, 200, { Id: id, Driver: "bridge", Options: { "com.docker.network.bridge.name": bridge } });
  }

  #stream(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** The form in which a container stands in the list. */
function short(container: Json): Json {
  const state = container["State"];
  const status = typeof state === "object" && state !== null && "Status" in state ? state.Status : null;
  return { Id: container["Id"], Names: [container["Name"]], State: status, Image: "shop/web:1", Labels: null };
}

/** A running container as `inspect` shows one; `over` replaces top-level parts. */
export function container(id: string, name: string, over: Json = {}): Json {
  return {
    Id: id,
    Name: `/${name}`,
    Image: `sha256:${"e".repeat(64)}`,
    RestartCount: 0,
    State: {
      Status: "running",
      Running: true,
      Paused: false,
      Restarting: false,
      OOMKilled: false,
      Dead: false,
      Pid: 4711,
      ExitCode: 0,
      Error: "",
      StartedAt: "2026-11-30T20:00:00.123456789Z",
      FinishedAt: "0001-01-01T00:00:00Z",
    },
    Config: { Image: "shop/web:1", Labels: { team: "shop" }, Env: ["A=1"] },
    HostConfig: { NetworkMode: "bridge", CgroupParent: "", Memory: 0, NanoCpus: 0 },
    NetworkSettings: {
      IPAddress: "172.17.0.2",
      Networks: { bridge: { NetworkID: "n0", IPAddress: "172.17.0.2", GlobalIPv6Address: "" } },
    },
    Mounts: [],
    ...over,
  };
}

/** The state of one that has stopped. */
export function exited(exitCode: number, finishedAt = "2026-11-30T20:05:00Z"): Json {
  return {
    State: {
      Status: "exited",
      Running: false,
      OOMKilled: false,
      Pid: 0,
      ExitCode: exitCode,
      StartedAt: "2026-11-30T20:00:00Z",
      FinishedAt: finishedAt,
    },
  };
}
