import { busyboxImage, kubectl } from "@trawler/testbed";
import { waitFor } from "./node.ts";

/** Where the benches keep their pods; removed at the end of a run. */
export const NAMESPACE = "trawler-bench";
const NAME = "load";
const CONTAINERS = ["app", "sidecar"];

/** Brings a deployment of two idle containers a pod to this many pods, and waits until all run and no other is left. */
export async function loadPods(pods: number, signal: AbortSignal): Promise<void> {
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  await apply(deployment(pods));
  await waitFor(
    `${pods} pods to run`,
    async () => {
      const path = "jsonpath={range .items[*]}{.status.phase}{.metadata.deletionTimestamp}{' '}{end}";
      const { stdout } = await kubectl(["get", "pods", "-n", NAMESPACE, "-l", `app=${NAME}`, "-o", path]);
      const phases = stdout.trim().split(" ").filter(Boolean);
      return phases.length === pods && phases.every((phase) => phase === "Running");
    },
    { signal, deadline: 300_000 },
  );
}

export async function removeLoad(): Promise<void> {
  await kubectl(["delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait=false"]);
  await kubectl(
    ["delete", "pods", "--all", "-n", NAMESPACE, "--grace-period=0", "--force", "--wait=false"],
    undefined,
    {
      tolerate: true,
    },
  );
}

export async function apply(object: object): Promise<void> {
  await kubectl(["apply", "-f", "-"], JSON.stringify(object));
}

const deployment = (replicas: number): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: NAMESPACE, name: NAME },
  spec: {
    replicas,
    selector: { matchLabels: { app: NAME } },
    template: {
      metadata: { labels: { app: NAME, tier: "bench" }, annotations: { "example.test/team": "data" } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: CONTAINERS.map((name) => ({
          name,
          image: busyboxImage,
          imagePullPolicy: "Never",
          command: ["sleep", "1000000"],
          resources: { requests: { cpu: "1m", memory: "4Mi" }, limits: { memory: "64Mi" } },
        })),
      },
    },
  },
});
