import { componentsOf } from "./components.ts";
import { adminKubeconfig, kubectlWith } from "./kubectl.ts";
import type { Layout } from "./layout.ts";
import { readSettings } from "./settings.ts";
import { runningRecord } from "./supervise.ts";
import { describeTestbed, type Testbed } from "./testbed.ts";

export interface ComponentStatus {
  readonly name: string;
  readonly pid?: number;
  readonly ready: boolean;
}

export interface TestbedStatus {
  readonly up: boolean;
  readonly components: readonly ComponentStatus[];
  /** Number of pods that the API server knows, where it answers. */
  readonly pods?: number;
  readonly testbed?: Testbed;
}

const isReady = async (ready: () => Promise<boolean>): Promise<boolean> => {
  try {
    return await ready();
  } catch {
    return false;
  }
};

export const readStatus = async (layout: Layout): Promise<TestbedStatus> => {
  const settings = readSettings(layout);
  if (settings === undefined) return { up: false, components: [] };
  const components = await Promise.all(
    componentsOf(layout, settings).map(async ({ name, ready }): Promise<ComponentStatus> => {
      const record = runningRecord(layout, name);
      return record === undefined ? { name, ready: false } : { name, pid: record.pid, ready: await isReady(ready) };
    }),
  );
  const serves = components.some(({ name, ready }) => name === "apiserver" && ready);
  const list = ["get", "pods", "--all-namespaces", "-o", "name"];
  const pods = serves ? (await kubectlWith(adminKubeconfig(layout), list, { tolerate: true })).stdout : undefined;
  return {
    up: components.every(({ ready }) => ready),
    components,
    ...(pods !== undefined && { pods: pods.split("\n").filter((line) => line !== "").length }),
    testbed: describeTestbed(layout, settings),
  };
};

/** The status as a short table. */
export const formatStatus = ({ up, components, pods, testbed }: TestbedStatus): string => {
  if (testbed === undefined) return "No testbed is up.\n";
  const lines = components.map(({ name, pid, ready }) => {
    const state = pid === undefined ? "dead" : ready ? "ready" : "not ready";
    return `  ${name.padEnd(20)} ${state.padEnd(10)} ${pid === undefined ? "" : `pid ${pid}`}`.trimEnd();
  });
  const { kubernetes, kafka, docker } = testbed;
  return [
    up ? "The testbed is up." : "The testbed is not whole: run `npm run testbed -- up`.",
    ...lines,
    kubernetes === undefined
      ? ""
      : `  API server ${kubernetes.apiServer}, ${pods ?? "?"} pods, ${testbed.secure ? "secure" : "open"} profile`,
    kafka === undefined ? "" : `  brokers    ${kafka.brokers.join(",")}`,
    docker === undefined ? "" : `  Docker     ${docker.socket}`,
    `  logs       ${testbed.logs}`,
    "",
  ]
    .filter((line, index, all) => line !== "" || index === all.length - 1)
    .join("\n");
};
