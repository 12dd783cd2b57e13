import { expect, test } from "vitest";
import { isMap, parseJson } from "../src/json.ts";
import { exceeded } from "../src/preflight/quota.ts";
import { awaitedIn } from "../src/wait/awaited.ts";
import { readinessOf } from "../src/wait/readiness.ts";
import { typeOf } from "./item.ts";

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
  ["one of two", "StatefulSet", object({ replicas: 2 }, { ...replicas, readyReplicas: 1 }), "waiting"],
  ["none wanted", "DaemonSet", object({}, { observedGeneration: 3, desiredNumberScheduled: 0 }), "ready"],
  ["complete", "Job", object({}, { conditions: [{ type: "Complete", status: "True" }] }), "ready"],
  ["failed", "Job", object({}, { conditions: [{ type: "Failed", status: "True" }] }), "failed"],
  ["new", "Job", object({}, {}), "waiting"],
  ["failed", "Pod", object({}, { phase: "Failed" }), "failed"],
  ["bound", "PersistentVolumeClaim", object({}, { phase: "Bound" }), "ready"],
  ["without an address", "Service", object({ type: "LoadBalancer" }, {}), "waiting"],
  ["inside", "Service", object({ type: "ClusterIP" }, {}), "ready"],
  ["without a rule or conditions", "Boat", object({}, {}), "ready"],
  [
    "without a rule, with a condition",
    "Boat",
    object({}, { conditions: [{ type: "Ready", status: "False" }] }),
    "waiting",
  ],
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
  ["active", "Namespace", object({}, { phase: "Active" }), "ready"],
  ["of another group", "Service ", object({ type: "LoadBalancer" }, {}), "ready"],
  ["garbage", "Deployment", { spec: 3, status: [] }, "waiting"],
])("P24: %s %s is %s", (_, kind, value, state) => {
  expect(readinessOf(typeOf(kind.trim(), "", GROUPS[kind]), value).state).toBe(state);
});

test("P25: in compat mode the annotation of OpenShift says what is waited for, of the kinds that it knows", () => {
  const value = (kind: string, apiVersion: string, marked: boolean) => {
    const annotations = { "template.alpha.openshift.io/wait-for-ready": "true" };
    const parsed = parseJson(JSON.stringify({ apiVersion, kind, metadata: marked ? { annotations } : {} }));
    return isMap(parsed) ? parsed : {};
  };
  const bodies = [
    value("Job", "batch/v1", true),
    value("Deployment", "apps/v1", false),
    value("Pod", "v1", true),
    value("Job", "example.test/v1", true),
  ];
  expect(bodies.map(awaitedIn("compat", bodies))).toEqual([true, false, false, false]);
  expect(bodies.map(awaitedIn("strict", bodies))).toEqual([true, true, true, true]);
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
