import { expect, test } from "vitest";
import { isRetryable, noAnswer, refusal } from "../src/cluster/error.ts";
import { isOurs, marked } from "../src/cluster/marks.ts";
import { backoff, Pace } from "../src/create/pace.ts";
import { parallel } from "../src/create/parallel.ts";
import { inWaves, waveOf } from "../src/create/waves.ts";
import { isMap, type JsonMap, parseJson } from "../src/json.ts";
import { deleteCommand } from "../src/report/names.ts";
import { itemOf, typeOf } from "./item.ts";

const body = (value: object): JsonMap => {
  const parsed = parseJson(JSON.stringify(value));
  return isMap(parsed) ? parsed : {};
};

const KINDS: readonly (readonly [wave: number, apiVersion: string, kinds: readonly string[]])[] = [
  [0, "v1", ["Namespace"]],
  [1, "apiextensions.k8s.io/v1", ["CustomResourceDefinition"]],
  [2, "v1", ["ServiceAccount", "Secret", "ConfigMap", "LimitRange", "ResourceQuota", "PersistentVolumeClaim"]],
  [2, "rbac.authorization.k8s.io/v1", ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"]],
  [2, "image.openshift.io/v1", ["ImageStream"]],
  [3, "v1", ["Service"]],
  [4, "apps/v1", ["Deployment", "StatefulSet", "DaemonSet"]],
  [4, "batch/v1", ["Job", "CronJob"]],
  [4, "apps.openshift.io/v1", ["DeploymentConfig"]],
  [4, "build.openshift.io/v1", ["BuildConfig"]],
  [4, "v1", ["Pod"]],
  [4, "example.test/v1", ["Anything", "Namespace", "CustomResourceDefinition"]],
  [5, "route.openshift.io/v1", ["Route"]],
  [5, "networking.k8s.io/v1", ["Ingress"]],
  [5, "autoscaling/v2", ["HorizontalPodAutoscaler"]],
  [5, "policy/v1", ["PodDisruptionBudget"]],
  [6, "admissionregistration.k8s.io/v1", ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]],
];

test("P12: kinds come in waves, template order inside one; an annotation may set another", () => {
  for (const [expected, apiVersion, kinds] of KINDS)
    for (const kind of kinds) expect([kind, waveOf(apiVersion, kind, body({}))]).toEqual([kind, expected]);
  const asked = (wave: string) =>
    waveOf("v1", "ConfigMap", body({ metadata: { annotations: { "trawler.dev/wave": wave } } }));
  expect(["9", "-1", "soon", "", "1e3", "99999"].map(asked)).toEqual([9, -1, 2, 2, 2, 2]);
  const items = [itemOf({ index: 0, wave: 4 }), itemOf({ index: 1, wave: 2 }), itemOf({ index: 2, wave: 4 })];
  expect(inWaves(items).map((group) => group.map(({ index }) => index))).toEqual([[1], [0, 2]]);
});

test("P13: as many at a time as are allowed and no more; none starts once it is stopped", async () => {
  let now = 0;
  let most = 0;
  let started = 0;
  await parallel(
    Array.from({ length: 40 }, (_, at) => at),
    8,
    async () => {
      started++;
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
    },
    () => started >= 24,
  );
  expect([most, started]).toEqual([8, 24]);
});

test("429 holds back all requests, for as long as the server asks", async () => {
  let time = 0;
  const pace = new Pace(() => time);
  pace.hold(20);
  let passed = false;
  const { signal } = new AbortController();
  const waiting = pace.ready(signal).then(() => {
    passed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(passed).toBe(false);
  time = 25;
  await waiting;
  expect(passed).toBe(true);
  expect([1, 3, 20].map((attempt) => backoff(attempt, () => 1))).toEqual([200, 800, 5_000]);
});

test("P11, R16: namespace, label and annotations are added, nothing else changes, numbers stay exact", () => {
  const text =
    '{"metadata":{"name":"a","labels":{"app":"x"},"__proto__":{"n":12345678901234567890}},"spec":{"template":{"metadata":{}}}}';
  const parsed = parseJson(text);
  const marks = { instance: "01abc", index: 3, template: "shop", digest: "d" };
  const result = JSON.parse(JSON.stringify(marked(isMap(parsed) ? parsed : {}, "shop", marks)));
  const { ["__proto__"]: plain, ...metadata } = result.metadata;
  expect(Object.keys(plain)).toEqual(["n"]);
  expect({ ...result, metadata }).toEqual({
    metadata: {
      name: "a",
      namespace: "shop",
      labels: { app: "x", "trawler.dev/instance": "01abc" },
      annotations: {
        "trawler.dev/object": "3",
        "trawler.dev/template": "shop",
        "trawler.dev/template-digest": "d",
      },
    },
    spec: { template: { metadata: {} } },
  });
  expect(JSON.stringify(marked(isMap(parsed) ? parsed : {}, "shop", marks))).toContain("12345678901234567890");
  expect(isOurs(result, "01abc", 3)).toBe(true);
  expect(isOurs(result, "01abc", 4)).toBe(false);
  expect(isOurs({}, "01abc", 3)).toBe(false);
});

test("P17: busy, away and lost races are tried again; what is wrong is not", () => {
  const error = (status: number, reason: string) => refusal({ status, body: { reason }, retryAfter: null });
  const again = [
    ...[429, 500, 502, 503, 504].map((status) => error(status, "Any")),
    error(409, "Conflict"),
    noAnswer(new Error("the connection was reset")),
  ];
  expect(again.filter((one) => !isRetryable(one))).toEqual([]);
  const never = [400, 403, 404, 413, 422].map((status) => error(status, "Any"));
  expect([...never, error(409, "AlreadyExists")].some(isRetryable)).toBe(false);
});

test("commands for leftovers can be pasted into a shell", () => {
  expect(deleteCommand(typeOf("Deployment", "deployments", "apps"), "shop", "cart")).toBe(
    "kubectl delete deployments.apps cart -n shop",
  );
  expect(deleteCommand(typeOf("ClusterRole", "clusterroles"), null, "a'b; rm")).toBe(
    "kubectl delete clusterroles 'a'\\''b; rm'",
  );
});
