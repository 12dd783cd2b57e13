import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient, tokenTarget } from "@trawler/kube";
import { fixed, median } from "../agent/usage.ts";
import type { Benchmark } from "../benchmark.ts";
import { benchFolder } from "../inventory/folder.ts";
import { timedRun } from "./run.ts";
import { configMaps, processed } from "./templates.ts";

const LATENCY = 100;
const PARALLEL = 8;
const BUDGET = 900;

/** An API server of ConfigMaps whose every creation takes 100 ms, however many there are at a time: a fake. */
async function slowServer(): Promise<AsyncDisposable & { readonly url: string; readonly most: number }> {
  let uid = 0;
  let now = 0;
  let most = 0;
  const server = createServer(async (incoming, response) => {
    const { pathname } = new URL(incoming.url ?? "/", "http://fake");
    const give = (status: number, body: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const body = await text(incoming);
    if (pathname === "/api/v1") return give(200, { resources: [KIND] });
    if (pathname.endsWith("/selfsubjectaccessreviews")) return give(201, { status: { allowed: true } });
    if (incoming.method === "GET" && pathname === "/api/v1/namespaces/shop")
      return give(200, { metadata: { name: "shop", uid: "n" } });
    if (incoming.method === "GET" && pathname.endsWith("/resourcequotas")) return give(200, { items: [] });
    if (incoming.method !== "POST") return give(404, { reason: "NotFound" });
    most = Math.max(most, ++now);
    await delay(LATENCY);
    now--;
    const object = JSON.parse(body);
    give(201, { ...object, metadata: { ...object.metadata, uid: `u${++uid}`, resourceVersion: "1" } });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    get most() {
      return most;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const KIND = { name: "configmaps", kind: "ConfigMap", namespaced: true, verbs: ["create", "delete", "get", "list"] };

export const bench: Benchmark = {
  name: "provision-latency",
  title: "Provisioning 40 objects where each creation takes 100 ms",
  async run({ quick, signal }) {
    const count = 40;
    const rounds = quick ? 2 : 10;
    await using server = await slowServer();
    using folder = benchFolder();
    using client = createApiClient({ target: tokenTarget({ server: server.url }), keptConnections: PARALLEL });
    const times: number[] = [];
    for (let round = -1; round < rounds; round++) {
      signal.throwIfAborted();
      const template = processed(configMaps(count, `c${round + 1}`), "shop");
      const { creation } = await timedRun(client, folder.path, template, {
        namespace: "shop",
        parallel: PARALLEL,
        dryRun: false,
      });
      if (round >= 0) times.push(creation);
    }
    const { middle, spread } = median(times);
    return {
      rows: [
        {
          what: `${count} ConfigMaps, ${PARALLEL} at a time`,
          figure: `${fixed(middle, 0)} ± ${fixed(spread, 0)} ms`,
          budget: `≤ ${BUDGET} ms`,
          met: middle <= BUDGET,
        },
        { what: "one after another they would take", figure: `${count * LATENCY} ms and more` },
        { what: "most requests at a time, as the server saw it", figure: String(server.most) },
      ],
      method: `A fake server on loopback that answers each creation after ${LATENCY} ms: a real one is not that slow on order. Medians of ${rounds} rounds, ± half the distance of the quartiles; journal and report included, checks left out.`,
      raw: { milliseconds: times },
    };
  },
};
