import { Worker } from "node:worker_threads";
import { errorMessage } from "@trawler/plugin-api";
import type { Carry } from "./carrier.ts";

/** MiB of heap of one thread; beyond it the thread ends, and with it its calls. */
const HEAP_MEGABYTES = 96;

/** Each crawler in a thread of its own. */
export const carryByThread: Carry = (data, events, log) => {
  const worker = new Worker(defaultEntry(), {
    name: `trawler-${data.id}`,
    workerData: data,
    // The environment holds secrets that a crawler does not need.
    env: {},
    execArgv: import.meta.url.endsWith(".ts") ? ["--conditions=@trawler/source"] : [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES, maxYoungGenerationSizeMb: 8 },
    // What it prints must not get between frames on the agent's own output.
    stdout: true,
    stderr: true,
  });
  for (const stream of [worker.stdout, worker.stderr]) {
    stream.on("data", (text: Buffer) => log.debug({}, text.toString("utf8", 0, 1_000).trimEnd()));
  }
  worker.on("message", events.message);
  worker.on("error", (error) => events.ended(`the thread of ${data.id} failed: ${errorMessage(error)}`));
  worker.on("exit", (code) => events.ended(`the thread of ${data.id} ended with ${code}`));
  worker.unref();
  return {
    send: (message) => worker.postMessage(message),
    terminate: async () => {
      await worker.terminate();
    },
  };
};

/** Built and from source alike. */
function defaultEntry(): URL {
  return new URL(`./thread${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
}
