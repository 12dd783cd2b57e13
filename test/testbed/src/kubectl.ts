import { join } from "node:path";
import type { Layout } from "./layout.ts";
import { type RunOptions, type RunResult, run } from "./run.ts";

export const adminKubeconfig = (layout: Layout): string => join(layout.kubernetes, "admin.kubeconfig");
export const agentKubeconfig = (layout: Layout): string => join(layout.kubernetes, "agent.kubeconfig");

/** The environment without proxies: everything of the testbed is on this machine. */
export const localEnvironment = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(https?|all)_proxy$/i.test(name)));

export const kubectlWith = (
  kubeconfig: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> =>
  run("kubectl", ["--kubeconfig", kubeconfig, "--cache-dir", `${kubeconfig}.cache`, ...args], {
    env: localEnvironment(),
    ...options,
  });
