import { Worker } from "node:worker_threads";

/** Starts a file of this package as a thread, from source as well as built. `name` is without its ending. */
export function startThread(name: string, from: string, workerData: unknown): Worker {
  const source = from.endsWith(".ts");
  return new Worker(new URL(`${name}${source ? ".ts" : ".js"}`, from), {
    workerData,
    // What is made here dies young: a larger nursery only takes memory.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
    execArgv: ["--disable-warning=ExperimentalWarning", ...(source ? ["--conditions=@trawler/source"] : [])],
  });
}
