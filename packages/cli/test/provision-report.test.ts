import { DEFAULT_SETTINGS, type Item, type Report } from "@trawler/provision";
import { expect, test } from "vitest";
import { formatReport } from "../src/commands/provision/report.ts";

const item = (index: number, name: string, change: Partial<Item>): Item => ({
  index,
  path: `/objects/${index}`,
  type: { apiVersion: "v1", group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
  deferred: false,
  namespace: "shop",
  name,
  generateName: null,
  wave: 2,
  status: "created",
  uid: `uid-${index}`,
  resourceVersion: "1",
  ready: null,
  error: null,
  attempts: 1,
  uncertain: false,
  startedAt: null,
  endedAt: null,
  ...change,
});

const forbidden = { code: 403, reason: "Forbidden", message: "not allowed", causes: [] };
const partial: Report = {
  instance: "01abc",
  template: "shop",
  digest: "d",
  namespace: "shop",
  server: "api.example.test",
  createdAt: "2026-01-01T00:00:00.000Z",
  endedAt: "2026-01-01T00:00:01.000Z",
  state: "PARTIAL",
  settings: DEFAULT_SETTINGS,
  headline: "ConfigMap shop/b: wrong",
  rollback: "incomplete",
  ready: null,
  leftovers: [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: "shop",
      name: "a",
      uid: "uid-0",
      why: "not allowed",
      command: "kubectl delete configmaps a -n shop",
    },
  ],
  evidence: [{ index: 0, lines: ["event Any: text"] }],
  warnings: [],
  objects: [
    item(0, "a", { status: "rollbackFailed", error: forbidden }),
    item(1, "b", {
      status: "failed",
      uid: null,
      error: { ...forbidden, code: 422, reason: "Invalid", message: "wrong" },
    }),
    item(2, "c", { status: "skipped", uid: null }),
  ],
};
const TEXT = `PARTIAL shop in shop, instance 01abc
  why: ConfigMap shop/b: wrong
  rollback: incomplete

#  OBJECT            ID     STATE
1  ConfigMap shop/a  uid-0  not rolled back  Forbidden: not allowed
2  ConfigMap shop/b  -      failed           Invalid: wrong
3  ConfigMap shop/c  -      not tried

Evidence of ConfigMap shop/a:
  event Any: text

Left in the cluster; trawl provision rollback 01abc removes it where it may, else by hand:
  kubectl delete configmaps a -n shop
    # not allowed
`;

test("R14: what a rollback cannot undo is said, where something acted", () => {
  const report = (kind: string) => {
    const { type } = item(0, "a", {});
    const objects = [item(0, "a", { status: "rolledBack", type: { ...type, kind } })];
    return formatReport({ ...partial, state: "FAILED", rollback: "complete", leftovers: [], evidence: [], objects });
  };
  expect(report("Job")).toContain("  not undone: what its containers, controllers and webhooks did elsewhere");
  expect(report("ConfigMap")).not.toContain("not undone");
});

test("P18, P28, P31: a report names type, id and state of every object in template order, the first error, and how to remove the rest", () => {
  expect(formatReport(partial)).toBe(TEXT);
});
