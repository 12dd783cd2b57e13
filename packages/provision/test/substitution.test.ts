import { expect, test } from "vitest";
import type { JsonMap } from "../src/json.ts";
import { processTemplate } from "../src/template/process.ts";
import type { FaultCode, Mode } from "../src/template/types.ts";

const names = (values: Readonly<Record<string, string>>) => Object.keys(values).map((name) => ({ name }));

/** One ConfigMap with `x` as one of its fields. */
function substitute(x: unknown, values: Readonly<Record<string, string>>, mode: Mode = "strict") {
  const text = JSON.stringify({
    apiVersion: "template.openshift.io/v1",
    kind: "Template",
    parameters: names(values),
    objects: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, x }],
  });
  const { template, faults } = processTemplate(text, { mode, values: Object.entries(values) });
  const body: JsonMap | undefined = template?.objects[0]?.body;
  const errors: FaultCode[] = faults.filter(({ severity }) => severity === "error").map(({ code }) => code);
  return { json: JSON.stringify(body?.["x"]), has: body !== undefined && "x" in body, errors, faults };
}

const P = { A: "${B}", B: "x", N: "8080", NAME: "web" };

test.each([
  ["${NAME}", "web"],
  ["pre-${NAME}-${B}", "pre-web-x"],
  ["$${NAME}", "$web"],
  ["\\${NAME}", "\\web"],
  ["$NAME", "$NAME"],
  ["${}", "${}"],
  ["${ NAME}", "${ NAME}"],
  ["${na-me}", "${na-me}"],
  ["${NAME", "${NAME"],
  ["a${{N}}", "a${{N}}"],
  ["${{N}}a", "${{N}}a"],
  ["${{ N }}", "${{ N }}"],
  ["${{N}}${{N}}", "${{N}}${{N}}"],
  ["${${B}}", "${x}"],
  ['"${{N}}"', '"${{N}}"'],
])("%s becomes %s in both modes", (text, result) => {
  expect(substitute(text, P).json).toBe(JSON.stringify(result));
  expect(substitute(text, P, "compat").json).toBe(JSON.stringify(result));
});

test.each(["${NOPE}", "${name}", "${{NOPE}}"])(
  "%s of no parameter stays with a warning in compat mode, and is an error in strict mode",
  (text) => {
    const compat = substitute(text, P, "compat");
    expect(compat.json).toBe(JSON.stringify(text));
    expect(compat.faults.map(({ code, severity }) => [code, severity])).toContainEqual([
      "REFERENCE_UNKNOWN",
      "warning",
    ]);
    expect(substitute(text, P).errors).toEqual(["REFERENCE_UNKNOWN"]);
  },
);

test("C142: values are not expanded again; compat mode replaces in turn, as the reference does", () => {
  expect(substitute("${A}", P).json).toBe('"${B}"');
  expect(substitute("${A}-${B}", P).json).toBe('"${B}-x"');
  expect(substitute("${A} ${B}", P).json).toBe('"${B} x"');
  expect(substitute("${A}", P, "compat").json).toBe('"${B}"');
  expect(substitute("${A}-${B}", P, "compat").json).toBe('"x-${B}"');
});

test("C141: several references in one text", () => {
  const values = { H: "db", P: "5432" };
  expect(substitute("http://${H}:${P}/${P}", values).json).toBe('"http://db:5432/5432"');
  expect(substitute(["$H", "$${H}", "${H-}", "${ H }", "${}"], values).json).toBe(
    '["$H","$db","${H-}","${ H }","${}"]',
  );
  const leftover = substitute("${NOPE}", values, "compat");
  expect(leftover.json).toBe('"${NOPE}"');
  expect(leftover.faults.map(({ message }) => message).join()).toContain("${NOPE}");
});

test("C138: number substitution: typed where it is double-braced, text where it is not, in YAML with and without quotes", () => {
  const text = `
apiVersion: template.openshift.io/v1
kind: Template
parameters: [{ name: R, value: "3" }]
objects:
  - { apiVersion: v1, kind: A, metadata: { name: a }, spec: { replicas: "\${{R}}" } }
  - apiVersion: v1
    kind: A
    metadata: { name: b }
    spec:
      replicas: \${{R}}
  - apiVersion: v1
    kind: A
    metadata: { name: c }
    spec:
      replicas: \${R}
`;
  const { template } = processTemplate(text);
  expect(template?.objects.map(({ body }) => JSON.stringify(body["spec"]))).toEqual([
    '{"replicas":3}',
    '{"replicas":3}',
    '{"replicas":"3"}',
  ]);
});

test.each([
  ["8080", "8080"],
  ["true", "true"],
  ["false", "false"],
  ["1.50", "1.5"],
  ["1e3", "1000"],
  ["007", '"007"'],
  ["08", '"08"'],
  [" 5 ", "5"],
  ["", '""'],
  ["yes", '"yes"'],
  ["0x1F", '"0x1F"'],
  ['"quoted"', '"quoted"'],
  ['["a","b"]', '["a","b"]'],
  ['{"k":1}', '{"k":1}'],
  ["{k:1}", '"{k:1}"'],
  ["hello", '"hello"'],
  ["[1,2]", "[1,2]"],
])("C139: ${{X}} of %j is %s in both modes", (value, result) => {
  expect(substitute("${{X}}", { X: value }).json).toBe(result);
  expect(substitute("${{X}}", { X: value }, "compat").json).toBe(result);
});

test("C139: ${{X}} of null removes the field", () => {
  for (const mode of ["strict", "compat"] as const) {
    const { has, errors } = substitute("${{X}}", { X: "null" }, mode);
    expect([has, errors]).toEqual([false, []]);
  }
});

test("numbers stay exact in strict mode and lose their end in compat mode", () => {
  const big = "12345678901234567890";
  expect(substitute("${{X}}", { X: big }).json).toBe(big);
  expect(substitute("${{X}}", { X: big }, "compat").json).toBe("12345678901234567000");
  expect(substitute("${{X}}", { X: `{"a":[${big}, 0.1234567890123456789]}` }).json).toBe(
    `{"a":[${big},0.1234567890123456789]}`,
  );
});

test("numbers that stand in the template stay exact, in JSON and in YAML, and are read as kubectl reads them", () => {
  const text = `
apiVersion: template.openshift.io/v1
kind: Template
objects:
  - apiVersion: v1
    kind: A
    x: [12345678901234567890, -0.1234567890123456789, 1.50, 1e3, 0644, 0x1F, yes, "yes", Off, 08, .5, ~]
`;
  const x = processTemplate(text).template?.objects[0]?.body["x"];
  expect(JSON.stringify(x)).toBe(
    '[12345678901234567890,-0.1234567890123456789,1.5,1000,420,31,true,"yes",false,8,0.5,null]',
  );
});

test.each(["${{N}}", "${{T}}"])("the key %s that becomes no text is an error in both modes", (key) => {
  const values = { N: "5", T: "true", NAME: "web" };
  expect(substitute({ [key]: 1 }, values).errors).toEqual(["KEY_NOT_TEXT"]);
  expect(substitute({ [key]: 1 }, values, "compat").errors).toEqual(["KEY_NOT_TEXT"]);
  expect(substitute({ "${{NAME}}": 1 }, values).json).toBe('{"web":1}');
});

test("keys of prototypes are plain data", () => {
  const text = `{"apiVersion":"v1","kind":"Template","parameters":[{"name":"K","value":"__proto__"}],
    "objects":[{"apiVersion":"v1","kind":"A","data":{"__proto__":{"polluted":1},"constructor":"c","\${K}x":"2"}}]}`;
  const body = processTemplate(text).template?.objects[0]?.body;
  expect(JSON.stringify(body?.["data"])).toBe('{"__proto__":{"polluted":1},"constructor":"c","__proto__x":"2"}');
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});

test("what grows without bound is refused", () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, "${X}".repeat(10_000)]));
  expect(substitute(many, { X: "x".repeat(1_000_000) }).errors).toEqual(["TOO_LARGE"]);
  expect(substitute("${{X}}", { X: `${"[".repeat(99)}${"]".repeat(99)}` }).errors).toEqual(["TOO_LARGE"]);
});
