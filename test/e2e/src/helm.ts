import { fileURLToPath } from "node:url";
import { buildHelm, cacheFolder, progressOnStderr, type RunOptions, type RunResult, run } from "@trawler/testbed";
import { node } from "./node.ts";

export const CHART = fileURLToPath(new URL("../../../deploy/chart/trawler", import.meta.url));

/** Runs Helm as administrator, with `values` as one values file. */
export async function helm(args: readonly string[], values?: object, options: RunOptions = {}): Promise<RunResult> {
  const program = await buildHelm(cacheFolder(), progressOnStderr());
  const file = values === undefined ? [] : ["--values", "-"];
  // JSON is YAML.
  return run(program, ["--kubeconfig", node().kubernetes.kubeconfig, ...args, ...file], {
    deadline: 120_000,
    ...(values !== undefined && { input: JSON.stringify(values) }),
    ...options,
  });
}
