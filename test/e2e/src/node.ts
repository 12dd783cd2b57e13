import { kubectl, readTestbedState, type Testbed } from "@trawler/testbed";
import { waitFor } from "./wait.ts";

export type KubernetesTestbed = Testbed & Required<Pick<Testbed, "kubernetes" | "kafka">>;

/** The testbed that the tier's setup brought up. */
export function node(): KubernetesTestbed {
  const state = readTestbedState();
  if (!state?.kubernetes || !state.kafka) throw new Error("no testbed is up");
  return { ...state, kubernetes: state.kubernetes, kafka: state.kafka };
}

export async function apply(...objects: readonly object[]): Promise<void> {
  const list = { apiVersion: "v1", kind: "List", items: objects };
  await kubectl(["apply", "-f", "-"], JSON.stringify(list));
}

/** Makes a namespace of its own for one test file, when one of an earlier run has gone. */
export async function makeNamespace(name: string): Promise<void> {
  await removeNamespace(name);
  await waitFor(
    `namespace ${name} to be gone`,
    async () => (await kubectl(["get", "namespace", name, "--ignore-not-found", "-o", "name"])).stdout.trim() === "",
    180_000,
  );
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  if (!node().secure) return;
  // Pods are refused until their account is there, which a controller makes a moment after the namespace.
  await waitFor(`the default service account of ${name}`, async () => {
    const { stdout } = await kubectl([
      "get",
      "serviceaccount",
      "default",
      "-n",
      name,
      "--ignore-not-found",
      "-o",
      "name",
    ]);
    return stdout.trim() !== "";
  });
}

/** Kills a namespace's pods and asks for its deletion; the cluster goes on with it behind the tests. */
export async function removeNamespace(name: string): Promise<void> {
  const force = ["--all", "-n", name, "--grace-period=0", "--force", "--wait=false"];
  await kubectl(["delete", "deployments,jobs", "--all", "-n", name, "--wait=false"], undefined, { tolerate: true });
  await kubectl(["delete", "pods", ...force], undefined, { tolerate: true });
  await kubectl(["delete", "namespace", name, "--ignore-not-found", "--wait=false"]);
}

interface PodJson {
  readonly metadata: {
    readonly uid: string;
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly containerStatuses?: readonly {
      readonly ready: boolean;
      readonly containerID?: string;
      readonly name: string;
    }[];
  };
}

export async function getPod(namespace: string, name: string): Promise<PodJson> {
  const { stdout } = await kubectl(["get", "pod", "-n", namespace, name, "-o", "json"]);
  return JSON.parse(stdout) as PodJson;
}

/** Waits until every container of the pod is ready; throws with what the cluster says of the pod. */
export async function podReady(namespace: string, name: string): Promise<PodJson> {
  try {
    return await waitFor(
      `pod ${namespace}/${name} to be ready`,
      async () => {
        const pod = await getPod(namespace, name);
        const statuses = pod.status.containerStatuses ?? [];
        return statuses.length > 0 && statuses.every(({ ready }) => ready) && pod;
      },
      90_000,
    );
  } catch (error) {
    const { stdout } = await kubectl(["describe", "pod", "-n", namespace, name], undefined, { tolerate: true });
    throw new Error(`${String(error)}; of it the cluster says:\n${stdout}`, { cause: error });
  }
}
