import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseJson } from "../src/json.ts";
import { evaluate } from "../src/template/process.ts";
import { readTemplate } from "../src/template/read.ts";
import type { FaultCode, Mode } from "../src/template/types.ts";

interface Golden {
  readonly case: string;
  readonly values: Readonly<Record<string, string>>;
  readonly template: Readonly<Record<string, unknown>>;
  readonly observed: {
    readonly errors?: readonly string[];
    readonly message?: string;
    readonly objects?: readonly unknown[];
    readonly parameters?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly deterministic: boolean;
}

const { cases }: { cases: readonly Golden[] } = JSON.parse(
  readFileSync(new URL("../testdata/template-goldens.json", import.meta.url), "utf8"),
);

const run = (golden: Golden, mode: Mode) => {
  const text = JSON.stringify({ apiVersion: "template.openshift.io/v1", kind: "Template", ...golden.template });
  const document = readTemplate(text, "golden.json", mode);
  const result = evaluate(document, { mode, values: Object.entries(golden.values) });
  const errors = result.faults.filter(({ severity }) => severity === "error");
  return { ...result, codes: errors.map(({ code }) => code), paths: errors.map(({ path }) => path) };
};

/** Where the reference gives an error or crashes, so do we: with these codes at these paths. */
const errors: Readonly<Record<string, readonly (readonly [FaultCode, string])[]>> = {
  G2: [
    ["PARAMETER_REQUIRED", "/parameters/0"],
    ["PARAMETER_REQUIRED", "/parameters/1"],
  ],
  G6: [["GENERATOR_UNKNOWN", "/parameters/0/generate"]],
  G7: [["PARAMETER_REQUIRED", "/parameters/1"]],
  G12: [["INVALID", "/objects/0"]],
  G20: [["NULL_IN_LIST", "/objects/0/spec/args/0"]],
  G22: [
    ["LABELS", "/objects/0"],
    ["LABELS", "/objects/1"],
  ],
  G28: [["PARAMETER_VALUE", "/parameters/0/value"]],
};

/** The reference's own answers differ from run to run here: what holds of all of them. */
const shapes: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  G3: { PW: /^[A-Y0-8]{8}$/ },
  G15: { A: /^k$/, B: /^k$/ },
  G18: { A: /^[a-y]{4}-[0-8]{4}$/, B: /^user-\w{6}$/, C: /^[!-/:-@[-`{-~]{6}$/, D: /^literal$/ },
};

for (const golden of cases) {
  const id = golden.case.split(" ")[0] ?? "";
  test(`${golden.case}, compat`, () => {
    const { codes, paths, objects, message, parameters } = run(golden, "compat");
    expect(codes.map((code, index) => [code, paths[index]])).toEqual(errors[id] ?? []);
    const values = Object.fromEntries(parameters.map(({ name, value }) => [name, value]));
    for (const [name, shape] of Object.entries(shapes[id] ?? {})) expect(values[name]).toMatch(shape);
    if (!golden.deterministic) {
      if (id === "G3") expect(objects[0]?.body).toMatchObject({ stringData: { pw: values["PW"] } });
      if (id === "G15") expect(objects[0]?.body).toMatchObject({ data: { k: "2" } });
      return;
    }
    if (golden.observed.objects === undefined || errors[id]?.some(([code]) => code === "LABELS")) return;
    expect(objects.map((object) => (object === null ? null : JSON.parse(JSON.stringify(object.body))))).toEqual(
      golden.observed.objects,
    );
    expect(message ?? "").toBe(golden.observed.message);
    expect(parameters.map(({ name, value }) => ({ name, value }))).toEqual(golden.observed.parameters);
  });
}

/** What strict mode refuses that the reference takes. */
const refused: Readonly<Record<string, readonly (readonly [FaultCode, string])[]>> = {
  ...errors,
  G15: [["KEY_COLLISION", "/objects/0/data/${B}"]],
  G17: [["PARAMETER_DUPLICATE", "/parameters/1/name"]],
  G22: [],
  G25: [
    ["NOT_TEXT", "/objects/0/metadata/name"],
    ["NOT_TEXT", "/objects/0/metadata/labels/a"],
  ],
  G28: [],
};

for (const golden of cases) {
  const id = golden.case.split(" ")[0] ?? "";
  test(`${golden.case}, strict`, () => {
    const { codes, paths, objects, faults } = run(golden, "strict");
    expect(codes.map((code, index) => [code, paths[index]])).toEqual(refused[id] ?? []);
    if (id === "G22") {
      expect(objects.map((object) => object?.body)).toEqual([
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", labels: { k: "v" } } },
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b", labels: { k: "v" } } },
      ]);
      expect(objects.map((object) => object?.path)).toEqual(["/objects/0/items/0", "/objects/1/items/0"]);
    } else if (id === "G28") {
      expect(faults.map(({ code, severity }) => [code, severity])).toContainEqual(["PARAMETER_VALUE", "warning"]);
    } else if ((refused[id] ?? []).length === 0 && golden.deterministic) {
      expect(objects.map((object) => JSON.parse(JSON.stringify(object?.body)))).toEqual(golden.observed.objects);
    }
  });
}

test("objects of the goldens survive being stored and read again", () => {
  for (const golden of cases) {
    for (const object of run(golden, "strict").objects) {
      if (object !== null)
        expect(JSON.stringify(parseJson(JSON.stringify(object.body)))).toBe(JSON.stringify(object.body));
    }
  }
});
