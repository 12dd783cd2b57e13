import { parentPort, workerData } from "node:worker_threads";
import type { CrawlerPlugin } from "@trawler/plugin-api";
import type { ThreadData } from "./protocol.ts";
import { serveCrawler } from "./serve.ts";

// The entry of the thread that runs one crawler of a third party. A thread that spins, leaks or ends takes its own
// crawler with it and nothing else.

const port = parentPort;
if (port !== null) {
  const data = workerData as ThreadData;
  const load = async (): Promise<CrawlerPlugin> =>
    ((await import(data.module)) as { readonly default: CrawlerPlugin }).default;
  await serveCrawler(data, load, {
    send: (message) => port.postMessage(message),
    listen: (receive) => port.on("message", receive),
  });
}
