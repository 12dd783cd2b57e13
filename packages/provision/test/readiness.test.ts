import { expect, test } from "vitest";
import { exceeded } from "../src/preflight/quota.ts";
import { readinessOf } from "../src/wait/readiness.ts";
import { typeOf } from "./item.ts";

const GROUPS: Readonly<Record<string, string>> = {
  Deployment: "apps",
  StatefulSet: "apps",
  DaemonSet: "apps",
  Job: "batch",
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
  ["garbage", "Deployment", { spec: 3, status: [] }, "waiting"],
])("P24: %s %s is %s", (_, kind, value, state) => {
  expect(readinessOf(typeOf(kind, "", GROUPS[kind]), value).state).toBe(state);
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
