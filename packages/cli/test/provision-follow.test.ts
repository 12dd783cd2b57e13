import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ServiceClient } from "../src/commands/provision/client.ts";
import { runMain } from "./in-process.ts";

const HELLO = fileURLToPath(new URL("../../../examples/templates/hello.yaml", import.meta.url));

/** A service that loses its connections when a test wants it: a real one cannot be made to. */
class Lossy implements AsyncDisposable {
  state = "SUCCEEDED";
  /** What each connection for events gets, in turn; the last one again and again. */
  connections: ((response: ServerResponse) => void)[] = [];
  /** `Last-Event-ID` of each. */
  readonly asked: (string | undefined)[] = [];
  /** Bodies of the requests for an instance. */
  readonly requests: string[] = [];
  readonly #server = createServer((incoming, response) => void this.#answer(incoming, response));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const json = (status: number, body: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (incoming.method === "POST") {
      const request = await text(incoming);
      this.requests.push(request);
      const { instance } = JSON.parse(request);
      // The first answer gets lost.
      if (this.requests.length === 1) return void response.destroy();
      return json(200, { instance, state: "CREATING", begun: false, event: 2, message: "all is well" });
    }
    if (!incoming.url?.includes("/events")) return json(200, { ...REPORT, state: this.state });
    this.asked.push(incoming.headers["last-event-id"]?.toString());
    const connection = this.connections.length > 1 ? this.connections.shift() : this.connections[0];
    connection?.(response);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

const REPORT = {
  ...{ instance: "i", template: "hello", namespace: "shop", headline: null, rollback: "notNeeded", ready: null },
  ...{ settings: { until: "created" }, leftovers: [], evidence: [], warnings: [], objects: [] },
};
const event = (id: number, type: string, data: object): string =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
const head = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { "content-type": "text/event-stream" });

let service: Lossy;
let url = "";
beforeEach(async () => {
  service = new Lossy();
  url = await service.listen();
});
afterEach(() => service[Symbol.asyncDispose]());

test.each([
  ["SUCCEEDED", 0],
  ["FAILED", 1],
  ["PARTIAL", 4],
])(
  "apply --server follows the run through losses, each event once, and ends with its code: %s, %i",
  async (state, code) => {
    service.state = state;
    service.connections = [
      (response) => {
        head(response).write(event(1, "state", { text: "CREATING", state: "CREATING" }));
        response.write(event(2, "log", { text: "a line" }), () => response.destroy());
      },
      (response) => void response.writeHead(503, { "retry-after": "0" }).end("{}"),
      (response) => void head(response).end(event(3, "state", { text: "WAITING", state: "WAITING" })),
      (response) => void head(response).end(`: still there\n\n${event(3, "end", {})}`),
    ];
    const ended = await runMain(["provision", "apply", "-f", HELLO, "-n", "shop", "--server", url]);
    expect([ended.code, ended.stdout]).toEqual([code, expect.stringMatching(new RegExp(`^${state} hello in shop`))]);
    expect(ended.stdout.includes("all is well")).toBe(state === "SUCCEEDED");
    expect(ended.stderr.split("\n").slice(1)).toEqual(["CREATING", "WAITING", ""]);
    expect(service.asked).toEqual([undefined, "2", "2", "3"]);
    // Asked again with the same instance: no second one.
    const [first = "", second] = service.requests;
    expect([service.requests.length, second]).toEqual([2, first]);
    expect(ended.stderr).toContain(`instance ${JSON.parse(first).instance}`);
  },
);

test("a service that does not come back is given up after a time", async () => {
  service.connections = [(response) => void response.destroy()];
  const client = new ServiceClient(new URL(url), null, null, 200);
  const read = async (): Promise<void> => {
    for await (const _ of client.events("/v1/instances/i/events", 0)) throw new Error("there is none");
  };
  await expect(read()).rejects.toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
  expect(service.asked.length).toBeGreaterThan(1);
});

test("following ends at once when it is to", async () => {
  const stop = new AbortController();
  service.connections = [(response) => void head(response).write(event(1, "log", { text: "a" }))];
  const client = new ServiceClient(new URL(url), null, null);
  const seen: number[] = [];
  for await (const { id } of client.events("/v1/instances/i/events", 0, stop.signal)) {
    seen.push(id);
    stop.abort();
  }
  expect(seen).toEqual([1]);
});
