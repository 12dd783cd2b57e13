import { expect, test } from "vitest";
import { formatFault } from "../src/template/faults.ts";
import { maskTemplate } from "../src/template/mask.ts";
import { processTemplate } from "../src/template/process.ts";
import { MASK, redactor } from "../src/template/redact.ts";

const HEAD = "apiVersion: template.openshift.io/v1\nkind: Template\n";
const faultsOf = (text: string, values: readonly (readonly [string, string])[] = []) => {
  const { template, faults } = processTemplate(text, { values, file: "t.yaml" });
  return { template, faults, codes: faults.map(({ code }) => code), lines: faults.map(formatFault) };
};

test.each([
  ["nothing", "", "SYNTAX"],
  ["broken YAML", `${HEAD}objects: [`, "SYNTAX"],
  ["binary noise", "\u0000\u0001\ufffd{{{", "NOT_A_TEMPLATE"],
  ["two documents", `${HEAD}---\n${HEAD}`, "SYNTAX"],
  ["an unknown tag", `${HEAD}message: !!js/function "x"`, "SYNTAX"],
  ["a list", "- 1\n- 2\n", "NOT_A_TEMPLATE"],
  ["a text", "hello", "NOT_A_TEMPLATE"],
  ["another kind", "apiVersion: v1\nkind: ConfigMap\n", "NOT_A_TEMPLATE"],
  ["another version", "apiVersion: template.openshift.io/v9\nkind: Template\n", "NOT_A_TEMPLATE"],
  ["a key twice", `${HEAD}message: a\nmessage: b\n`, "DUPLICATE_KEY"],
  ["a key that is a map", `${HEAD}? {a: 1}\n: 2\n`, "INVALID"],
  ["objects that are a map", `${HEAD}objects: {}\n`, "INVALID"],
  ["an alias without anchor", `${HEAD}message: *nothing\n`, "SYNTAX"],
  ["an alias of itself", `${HEAD}objects: &a [*a]\n`, "TOO_LARGE"],
  ["infinity", `${HEAD}objects: [{apiVersion: v1, kind: A, x: .inf}]\n`, "INVALID"],
  ["10 MB", `${HEAD}message: ${"x".repeat(10_000_000)}\n`, "TOO_LARGE"],
  ["deep lists", `${HEAD}objects: ${"[".repeat(200)}${"]".repeat(200)}\n`, "TOO_LARGE"],
  ["very deep lists", `${HEAD}objects: ${"[".repeat(2_000_000)}`, "TOO_LARGE"],
  ["very deep items on one line", `${HEAD}objects:\n${"- ".repeat(2_000_000)}`, "TOO_LARGE"],
  [
    "deep JSON",
    `{"apiVersion":"v1","kind":"Template","objects":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`,
    "TOO_LARGE",
  ],
  [
    "objects without end, in JSON",
    `{"apiVersion":"v1","kind":"Template","objects":[${"{},".repeat(2_000_000)}{}]}`,
    "TOO_LARGE",
  ],
  ["1,001 objects", `${HEAD}objects:\n${"- {apiVersion: v1, kind: A}\n".repeat(1_001)}`, "TOO_LARGE"],
])("a bad template is refused, with a place: %s", (_, text, code) => {
  const { template, codes, faults } = faultsOf(text);
  expect(template).toBeNull();
  expect(codes).toContain(code);
  for (const { line, column, message } of faults) {
    if (text.length > 5_000_000) continue; // No tree is built of it, so there are no places.
    expect(line).toBeGreaterThan(0);
    expect(column).toBeGreaterThan(0);
    expect(message.length).toBeLessThan(600);
  }
});

test("a bomb of aliases is refused before it grows", () => {
  const levels = Array.from(
    { length: 12 },
    (_, index) => `  l${index + 1}: &l${index + 1} [${`*l${index},`.repeat(10)}]`,
  );
  const { template, codes } = faultsOf(
    `${HEAD}objects:\n- apiVersion: v1\n  kind: A\n  l0: &l0 [x]\n${levels.join("\n")}\n`,
  );
  expect(template).toBeNull();
  expect(codes).toContain("TOO_LARGE");
});

test("aliases and merges within bounds are followed, as kubectl does", () => {
  const text = `${HEAD}objects:
  - &base { apiVersion: v1, kind: ConfigMap, metadata: { name: a } }
  - <<: *base
    metadata: { name: b }
`;
  expect(faultsOf(text).template?.objects.map(({ body }) => JSON.stringify(body))).toEqual([
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}',
    '{"metadata":{"name":"b"},"apiVersion":"v1","kind":"ConfigMap"}',
  ]);
});

test("C145: a number as value is taken as it is written, with a warning", () => {
  const { template, lines } = faultsOf(
    `${HEAD}parameters:\n  - name: PORT\n    value: 8086\n  - name: RATE\n    value: 1.50\nmessage: \${PORT} \${RATE}\n`,
  );
  expect(template?.message).toBe("8086 1.50");
  expect(lines).toEqual([
    "t.yaml:5:5: /parameters/0/value: warning: value is a number and is taken as the text that is written; put it in quotes",
    "t.yaml:7:5: /parameters/1/value: warning: value is a number and is taken as the text that is written; put it in quotes",
  ]);
});

test("C145: an unknown parameter is an error with the near name, unless it is ignored on request", () => {
  const text = `${HEAD}parameters: [{ name: REPLICAS, value: "1" }]\nmessage: \${REPLICAS}\n`;
  expect(faultsOf(text, [["REPLICS", "1"]]).lines).toEqual([
    "the template has no parameter REPLICS; did you mean REPLICAS?",
  ]);
  expect(processTemplate(text, { values: [["TYPO", "1"]], ignoreUnknown: true }).template).not.toBeNull();
});

test("C145: values with =, newline and a leading @ are taken as they are; one name twice is an error", () => {
  const text = `${HEAD}parameters: [{ name: A }]\nmessage: \${A}\n`;
  for (const value of ["a=b", "a\nb", "@/etc/passwd", "$&", "${A}"])
    expect(faultsOf(text, [["A", value]]).template?.message).toBe(value);
  const twice: readonly (readonly [string, string])[] = [
    ["A", "1"],
    ["A", "2"],
  ];
  expect(faultsOf(text, twice).codes).toEqual(["VALUE_DUPLICATE"]);
});

test("C145: duplicate names are an error in strict mode and a warning in compat mode", () => {
  const text = `${HEAD}parameters: [{ name: A, value: "1" }, { name: A, value: "2" }]\nmessage: \${A}\n`;
  expect(faultsOf(text).codes).toEqual(["PARAMETER_DUPLICATE"]);
  const compat = processTemplate(text, { mode: "compat" });
  expect(compat.template?.message).toBe("2");
  expect(compat.faults.map(({ severity }) => severity)).toEqual(["warning"]);
});

test("secrets are in no fault, and masked wherever a template is shown", () => {
  const secret = 'p"ss wörd/1';
  const text = `${HEAD}message: password \${DB_PASSWORD}, pin \${PIN}
parameters: [{ name: DB_PASSWORD }, { name: PIN }, { name: NAME, value: db }]
objects:
  - { apiVersion: v1, kind: Secret, metadata: { name: "\${NAME}" }, stringData: { p: "\${DB_PASSWORD}", fixed: open-sesame } }
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${NAME}" }, data: { url: "db://u:\${DB_PASSWORD}@h" } }
`;
  const { template } = faultsOf(text, [
    ["DB_PASSWORD", secret],
    ["PIN", "7"],
  ]);
  expect(template).not.toBeNull();
  if (template === null) return;
  const shown = JSON.stringify(maskTemplate(template));
  expect(shown).not.toContain("wörd");
  expect(shown).toContain(`db://u:${MASK}@h`);
  expect(shown).not.toMatch(/"fixed":"open/);
  expect(template.parameters.map(({ name, secret: hidden }) => [name, hidden])).toEqual([
    ["DB_PASSWORD", true],
    ["PIN", false],
    ["NAME", false],
  ]);
  for (const form of [
    secret,
    JSON.stringify(secret),
    Buffer.from(secret).toString("base64"),
    encodeURIComponent(secret),
  ])
    expect(template.redact(`invalid value ${form} in spec`)).toMatch(new RegExp(`^invalid value "?${MASK}"? in spec$`));
  const failed = faultsOf(`${text}bad: 1\n`, [
    ["DB_PASSWORD", secret],
    ["DB_PASSWORD", secret],
    ["X", secret],
  ]);
  expect(failed.template).toBeNull();
  expect(failed.lines.join()).not.toContain("wörd");
});

test("P3: a namespace of a parameter stays, another goes, the target comes, and what has none gets none", () => {
  const text = `${HEAD}parameters: [{ name: NS, value: other }]
objects:
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: a, namespace: "\${NS}" } }
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: b, namespace: hard } }
  - { apiVersion: v1, kind: Namespace, metadata: { name: c } }
  - { apiVersion: batch/v1, kind: Job, metadata: { generateName: d- } }
`;
  const { template } = processTemplate(text, { namespace: "shop" });
  expect(
    template?.objects.map(({ namespace, name, generateName, index }) => [index, namespace, name, generateName]),
  ).toEqual([
    [0, "other", "a", null],
    [1, "shop", "b", null],
    [2, null, "c", null],
    [3, "shop", null, "d-"],
  ]);
});

test("two objects of one identity are an error in strict mode", () => {
  const object = "  - { apiVersion: v1, kind: ConfigMap, metadata: { name: a } }\n";
  expect(faultsOf(`${HEAD}objects:\n${object}${object}`).lines).toEqual([
    "t.yaml:5:5: /objects/1: a second ConfigMap a, after /objects/0; give it another name",
  ]);
});

test("a template of 1,000 objects is processed, with places in JSON too", () => {
  const object = (index: number) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `\${N}-${index}` },
    data: { text: "x".repeat(400) },
  });
  const objects = Array.from({ length: 1_000 }, (_, index) => object(index));
  const build = (more: object) =>
    JSON.stringify(
      { apiVersion: "v1", kind: "Template", parameters: [{ name: "N", value: "n" }], objects, ...more },
      null,
      1,
    );
  expect(faultsOf(build({})).template?.objects).toHaveLength(1_000);
  const { faults } = faultsOf(build({ message: "${NOPE}" }));
  expect(faults.map(({ code, path }) => [code, path])).toEqual([["REFERENCE_UNKNOWN", "/message"]]);
  expect(faults[0]?.line).toBeGreaterThan(1_000);
});

test("C7: more secret values than any text could be searched for are refused; what overlaps is hidden whole", () => {
  const stringData = Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`key-${at}`, `value-${at}`]));
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData };
  const text = JSON.stringify({ apiVersion: "v1", kind: "Template", objects: [secret] });
  expect(processTemplate(text).faults.map(({ code }) => code)).toEqual(["TOO_LARGE"]);
  const redact = redactor(["abcd", "bcdefgh", "xyz"]);
  expect(redact("abcdefgh xyzxyz xy abcd")).toBe(`${MASK} ${MASK}${MASK} xy ${MASK}`);
  expect(redact("")).toBe("");
});
