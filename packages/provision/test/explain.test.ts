import { expect, test } from "vitest";
import { compareModes } from "../src/template/explain.ts";

const HEAD = { apiVersion: "template.openshift.io/v1", kind: "Template" };

test("C3: each difference between the modes is a line: faults, generators, values, lists", () => {
  const text = JSON.stringify({
    ...HEAD,
    parameters: [
      { name: "A", value: "${B}" },
      { name: "B", value: "x" },
      { name: "PIN", generate: "expression", from: "[0-9]{4}" },
    ],
    objects: [
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "one" }, data: { a: "${A}-${B}", pin: "${PIN}" } },
      { apiVersion: "v1", kind: "List", items: [{ apiVersion: "v1", kind: "Secret", metadata: { name: "two" } }] },
    ],
  });
  const lines = compareModes(text, { namespace: "shop" });
  expect(lines).toContainEqual("PIN: in compat mode ranges lack their last character, and \\a has digits");
  expect(lines.join("\n")).toContain("/objects/0: ConfigMap comes out differently");
  const number = { ...HEAD, parameters: [{ name: "N", value: 8086 }], objects: [], message: "${N}" };
  expect(compareModes(JSON.stringify(number), { namespace: "shop" })).toEqual([
    expect.stringMatching(/^strict mode only: .*\/parameters\/0\/value: warning: /),
    expect.stringMatching(/^compat mode only: .*\/parameters\/0\/value: value is a number/),
  ]);
});

test("C3: where the modes agree there is nothing to tell", () => {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "${NAME}" } };
  const text = JSON.stringify({ ...HEAD, parameters: [{ name: "NAME", value: "a" }], objects: [object] });
  expect(compareModes(text, { namespace: "shop" })).toEqual([]);
});
