import { expect, test } from "vitest";
import { isRetryable, refusal } from "../src/cluster/error.ts";
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

test("P12: kinds come in waves, template order inside one; an annotation may set another", () => {
  const wave = (apiVersion: string, kind: string, value: object = {}) => waveOf(apiVersion, kind, body(value));
  const order = [
    wave("v1", "Namespace"),
    wave("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    wave("v1", "Secret"),
    wave("v1", "Service"),
    wave("apps/v1", "Deployment"),
    wave("networking.k8s.io/v1", "Ingress"),
    wave("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
  ];
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(wave("example.test/v1", "Namespace")).toBe(4);
  expect(wave("v1", "ConfigMap", { metadata: { annotations: { "trawler.dev/wave": "9" } } })).toBe(9);
  expect(wave("v1", "ConfigMap", { metadata: { annotations: { "trawler.dev/wave": "soon" } } })).toBe(2);
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
  expect(result.metadata).toMatchObject({ namespace: "shop", labels: { app: "x", "trawler.dev/instance": "01abc" } });
  expect(result.spec).toEqual({ template: { metadata: {} } });
  expect(JSON.stringify(marked(isMap(parsed) ? parsed : {}, "shop", marks))).toContain("12345678901234567890");
  expect(isOurs(result, "01abc", 3)).toBe(true);
  expect(isOurs(result, "01abc", 4)).toBe(false);
  expect(isOurs({}, "01abc", 3)).toBe(false);
});

test("P17: busy, away and lost races are tried again; what is wrong is not", () => {
  const error = (status: number, reason: string) => refusal({ status, body: { reason }, retryAfter: null });
  const again = [error(429, "TooManyRequests"), error(503, "ServiceUnavailable"), error(409, "Conflict")];
  expect(again.every(isRetryable)).toBe(true);
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
