import { agentRole, busyboxImage, nginxImage, redisImage } from "@trawler/testbed";
import { parseAllDocuments } from "yaml";
import type { NodeObjects } from "./guest/node.ts";
import { guestNode } from "./pins.ts";

/** Writes to disk, uses a processor and sends packets, a little at a time and without end. */
const busyScript = [
  "while true; do",
  "dd if=/dev/zero of=/tmp/file bs=64k count=16 conv=fsync 2>/dev/null;",
  "ping -c 1 -W 1 10.88.0.1 >/dev/null;",
  "sleep 0.5; done",
].join(" ");

const idleScript = "trap 'exit 0' TERM; while true; do sleep 3600 & wait $!; done";

const container = (name: string, image: string, extra: object = {}): object => ({
  name,
  image,
  imagePullPolicy: "Never",
  ...extra,
});

const shell = (script: string): object => ({ command: ["/bin/sh", "-c", script] });

const pod = (name: string, metadata: object, containers: readonly object[], spec: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop", ...metadata },
  spec: { terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, containers, ...spec },
});

/** A Burstable pod with downward API files; redis has a limit of its own. */
const shop = pod(
  "shop",
  { labels: { app: "shop" }, annotations: { team: "data" } },
  [
    container("redis", redisImage, {
      resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { cpu: "300m", memory: "64Mi" } },
      volumeMounts: [{ name: "podinfo", mountPath: "/etc/podinfo" }],
    }),
    container("nginx", nginxImage),
  ],
  {
    nodeName: guestNode,
    volumes: [
      {
        name: "podinfo",
        downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] },
      },
    ],
  },
);

/** A Guaranteed pod, whose cgroup lies directly below the root of all pods. */
const busy = pod(
  "busy",
  { labels: { app: "busy" } },
  [
    container("worker", busyboxImage, {
      ...shell(busyScript),
      resources: { requests: { cpu: "200m", memory: "64Mi" }, limits: { cpu: "200m", memory: "64Mi" } },
    }),
  ],
  { nodeName: guestNode },
);

/** A pod at rest, read by the kubelet from a file; BestEffort. Its cgroup carries the hash of this manifest. */
export const staticPod = pod("static", { labels: { app: "static", load: "none" } }, [
  container("main", busyboxImage, shell(idleScript)),
]);

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const collections: Readonly<Record<string, string>> = {
  ClusterRole: `${rbac}/clusterroles`,
  ClusterRoleBinding: `${rbac}/clusterrolebindings`,
};

/** What is declared to the API server, and how many pods are ready in the end. */
export const nodeObjects = (): NodeObjects => {
  const roles = parseAllDocuments(agentRole()).map((document) => document.toJS() as { readonly kind: string });
  return {
    node: guestNode,
    objects: [
      ["/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }],
      ...roles.map((role) => [collections[role.kind] ?? "", role] as const),
      ["/api/v1/namespaces/shop/pods", shop],
      ["/api/v1/namespaces/shop/pods", busy],
    ],
    pods: 3,
  };
};
