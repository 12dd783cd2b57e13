import { createApiClient, tokenTarget } from "@trawler/kube";
import { expect, test } from "vitest";
import { Cluster } from "../src/cluster/cluster.ts";
import { isMap, parseJson } from "../src/json.ts";
import { exceeded } from "../src/preflight/quota.ts";
import { awaitedIn } from "../src/wait/awaited.ts";
import { readinessIn } from "../src/wait/further.ts";
import { readinessOf } from "../src/wait/readiness.ts";
import { fakeCluster } from "./fake-cluster.ts";
import { itemOf, typeOf } from "./item.ts";

const GROUPS: Readonly<Record<string, string>> = {
  Deployment: "apps",
  StatefulSet: "apps",
  DaemonSet: "apps",
  Job: "batch",
  ReplicaSet: "apps",
  DeploymentConfig: "apps.openshift.io",
  Build: "build.openshift.io",
  Route: "route.openshift.io",
  CustomResourceDefinition: "apiextensions.k8s.io",
  // A kind of another group that has the name of a known one.
  "Service ": "serving.example.test",
};
const replicas = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, readyReplicas: 2, observedGeneration: 3 };
const object = (spec: object, status: object) => ({ metadata: { generation: 3 }, spec, status });

test.each<[string, string, object, string]>([
  [
    "its controller has not seen it",
    "Deployment",
    object({ replicas: 2 }, { ...replicas, observedGeneration: 2 }),
    "waiting",
  ],
  ["all replicas", "Deployment", object({ replicas: 2 }, replicas), "ready"],
  ["an old replica is still there", "Deployment", object({ replicas: 2 }, { ...replicas, replicas: 3 }), "waiting"],
  [
    "no progress",
    "Deployment",
    object({}, { ...replicas, conditions: [{ type: "Progressing", status: "False" }] }),
    "failed",
  ],
  ["one of two is available", "Deployment", object({ replicas: 2 }, { ...replicas, availableReplicas: 1 }), "waiting"],
  ["one of two is updated", "Deployment", object({ replicas: 2 }, { ...replicas, updatedReplicas: 1 }), "waiting"],
  ["all replicas", "StatefulSet", object({ replicas: 2 }, replicas), "ready"],
  [
    "one of two is updated",
    "StatefulSet",
    object({ replicas: 2 }, { ...replicas, updatedReplicas: 1, currentRevision: "a", updateRevision: "b" }),
    "waiting",
  ],
  ["one of two", "StatefulSet", object({ replicas: 2 }, { ...replicas, readyReplicas: 1 }), "waiting"],
  ["none wanted", "DaemonSet", object({}, { observedGeneration: 3, desiredNumberScheduled: 0 }), "ready"],
  [
    "on one of two nodes",
    "DaemonSet",
    object({}, { observedGeneration: 3, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 }),
    "waiting",
  ],
  ["complete", "Job", object({}, { conditions: [{ type: "Complete", status: "True" }] }), "ready"],
  ["failed", "Job", object({}, { conditions: [{ type: "Failed", status: "True" }] }), "failed"],
  ["new", "Job", object({}, {}), "waiting"],
  ["failed", "Pod", object({}, { phase: "Failed" }), "failed"],
  ["running", "Pod", object({}, { phase: "Running", conditions: [{ type: "Ready", status: "False" }] }), "waiting"],
  ["running", "Pod", object({}, { phase: "Running", conditions: [{ type: "Ready", status: "True" }] }), "ready"],
  ["new", "PersistentVolumeClaim", object({}, { phase: "Pending" }), "waiting"],
  ["without its volume", "PersistentVolumeClaim", object({}, { phase: "Lost" }), "failed"],
  ["bound", "PersistentVolumeClaim", object({}, { phase: "Bound" }), "ready"],
  ["without an address", "Service", object({ type: "LoadBalancer" }, {}), "waiting"],
  [
    "with an address",
    "Service",
    object({ type: "LoadBalancer" }, { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } }),
    "ready",
  ],
  ["inside", "Service", object({ type: "ClusterIP" }, {}), "ready"],
  ["without a rule or conditions", "Boat", object({}, {}), "ready"],
  [
    "without a rule, with a condition",
    "Boat",
    object({}, { conditions: [{ type: "Ready", status: "False" }] }),
    "waiting",
  ],
  [
    "available and not ready",
    "Boat",
    object(
      {},
      {
        conditions: [
          { type: "Available", status: "True" },
          { type: "Ready", status: "Unknown" },
        ],
      },
    ),
    "waiting",
  ],
  ["available", "Boat", object({}, { conditions: [{ type: "Available", status: "True" }] }), "ready"],
  ["one of two", "ReplicaSet", object({ replicas: 2 }, { ...replicas, readyReplicas: 1 }), "waiting"],
  ["one of two", "ReplicationController", object({ replicas: 2 }, { ...replicas, readyReplicas: 1 }), "waiting"],
  ["all replicas", "DeploymentConfig", object({ replicas: 2 }, replicas), "ready"],
  [
    "no progress",
    "DeploymentConfig",
    object({}, { conditions: [{ type: "Progressing", status: "False" }] }),
    "waiting",
  ],
  ["running", "Build", object({}, { phase: "Running" }), "waiting"],
  ["complete", "Build", object({}, { phase: "Complete" }), "ready"],
  ["cancelled", "Build", object({}, { phase: "Cancelled" }), "failed"],
  ["new", "Route", object({}, {}), "waiting"],
  [
    "admitted by one router",
    "Route",
    object({}, { ingress: [{}, { conditions: [{ type: "Admitted", status: "True" }] }] }),
    "ready",
  ],
  ["new", "CustomResourceDefinition", object({}, {}), "waiting"],
  [
    "established",
    "CustomResourceDefinition",
    object({}, { conditions: [{ type: "Established", status: "True" }] }),
    "ready",
  ],
  ["ending", "Namespace", object({}, { phase: "Terminating" }), "waiting"],
  ["active", "Namespace", object({}, { phase: "Active" }), "ready"],
  ["of another group", "Service ", object({ type: "LoadBalancer" }, {}), "ready"],
  ["garbage", "Deployment", { spec: 3, status: [] }, "waiting"],
])("P24: %s %s is %s", (_, kind, value, state) => {
  expect(readinessOf(typeOf(kind.trim(), "", GROUPS[kind]), value).state).toBe(state);
});

test("P24: a BuildConfig is as ready as its last build; where nothing starts one it is ready at once", async () => {
  await using fake = await fakeCluster();
  using client = createApiClient({ target: tokenTarget({ server: fake.url }) });
  const cluster = new Cluster(client);
  const item = itemOf({ index: 0, name: "web", type: typeOf("BuildConfig", "buildconfigs", "build.openshift.io") });
  const look = async (lastVersion: number, triggers: readonly object[] = []) =>
    (await readinessIn(cluster, item, { spec: { triggers }, status: { lastVersion } })).state;
  let phase = "Running";
  fake.interfere = (_, path) =>
    path === "/apis/build.openshift.io/v1/namespaces/shop/builds/web-2" ? [200, { status: { phase } }] : undefined;
  expect(await look(2)).toBe("waiting");
  phase = "Complete";
  expect(await look(2)).toBe("ready");
  phase = "Failed";
  expect(await look(2)).toBe("failed");
  expect([await look(3), await look(0), await look(0, [{ type: "ConfigChange" }])]).toEqual([
    "waiting",
    "ready",
    "waiting",
  ]);
});

test("P25: in compat mode the annotation of OpenShift says what is waited for, of the kinds that it knows", () => {
  const value = (kind: string, apiVersion: string, marked: boolean) => {
    const annotations = { "template.alpha.openshift.io/wait-for-ready": "true" };
    const parsed = parseJson(JSON.stringify({ apiVersion, kind, metadata: marked ? { annotations } : {} }));
    return isMap(parsed) ? parsed : {};
  };
  const known = [
    value("Build", "build.openshift.io/v1", true),
    value("BuildConfig", "build.openshift.io/v1", true),
    value("Deployment", "apps/v1", true),
    value("DeploymentConfig", "apps.openshift.io/v1", true),
    value("StatefulSet", "apps/v1", true),
    value("Job", "batch/v1", true),
    value("Route", "route.openshift.io/v1", true),
  ];
  const others = [
    value("Deployment", "apps/v1", false),
    value("Pod", "v1", true),
    value("DaemonSet", "apps/v1", true),
    value("Job", "example.test/v1", true),
  ];
  const bodies = [...known, ...others];
  expect(bodies.filter(awaitedIn("compat", bodies))).toEqual(known);
  expect(bodies.filter(awaitedIn("strict", bodies))).toEqual(bodies);
  const plain = [value("Job", "batch/v1", false)];
  expect(plain.map(awaitedIn("compat", plain))).toEqual([true]);
});

const planned = (plural: string, group = "") => ({
  index: 0,
  path: "",
  type: typeOf(plural, plural, group),
  deferred: false,
  namespace: "shop",
  name: "a",
  generateName: null,
  wave: 0,
  body: {},
  existing: false,
  uid: null,
  unjudged: null,
});

test("P8: counts are added up against the quota, with what is used already", () => {
  const quota = (hard: object, used: object, spec: object = {}) => ({
    metadata: { name: "q" },
    spec,
    status: { hard, used },
  });
  const objects = [planned("secrets"), planned("secrets"), planned("deployments", "apps")];
  expect(exceeded(quota({ secrets: "2" }, { secrets: "1" }), objects)).toMatchObject([{ check: "quota" }]);
  expect(exceeded(quota({ secrets: "3" }, { secrets: "1" }), objects)).toEqual([]);
  expect(exceeded(quota({ "count/deployments.apps": "0" }, {}), objects)).toHaveLength(1);
  expect(exceeded(quota({ secrets: "0" }, {}, { scopes: ["BestEffort"] }), objects)).toEqual([]);
  expect(exceeded(quota({ cpu: "500m", secrets: "1k" }, {}), objects)).toEqual([]);
});
