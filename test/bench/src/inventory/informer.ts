import { setTimeout as delay } from "node:timers/promises";
import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";

/** The client library's informer on pods, in a process of its own: what its documentation shows, and no more. */

export interface FromInformer {
  readonly type: "synced";
  /** Seconds until every pod was in its cache. */
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly heapBytesPerPod: number;
}

const [url = "", pods = "0"] = process.argv.slice(2);
const expected = Number(pods);
const heap = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};
const heapBefore = heap();
const begun = performance.now();
const cpuBefore = process.cpuUsage();
const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: "c", server: url, skipTLSVerify: true }],
  users: [{ name: "u" }],
  contexts: [{ name: "c", cluster: "c", user: "u" }],
  currentContext: "c",
});
const api = config.makeApiClient(CoreV1Api);
let added = 0;
const informer = makeInformer(config, "/api/v1/pods", () => api.listPodForAllNamespaces());
informer.on("add", () => {
  added += 1;
});
informer.on("error", (error) => {
  throw error instanceof Error ? error : new Error(String(error));
});
void informer.start();
while (added < expected) await delay(20);
const seconds = (performance.now() - begun) / 1000;
const { user, system } = process.cpuUsage(cpuBefore);
const message: FromInformer = {
  type: "synced",
  seconds,
  cpuSeconds: (user + system) / 1e6,
  heapBytesPerPod: (heap() - heapBefore) / expected,
};
process.send?.(message);
process.on("disconnect", () => process.exit(0));
