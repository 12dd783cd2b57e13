import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runMain } from "./in-process.ts";

const EXAMPLES = fileURLToPath(new URL("../../../examples/templates/", import.meta.url));
const POSTGRESQL = join(EXAMPLES, "postgresql.yaml");
const SECRET = "sw0rdfish-and-more";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-provision-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const provision = (...args: readonly string[]) => runMain(["provision", ...args]);

test("plan prints objects, parameters and message, and masks secrets", async () => {
  const ended = await provision("plan", "-f", POSTGRESQL, "-n", "shop", "-p", `DATABASE_PASSWORD=${SECRET}`);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(ended.stdout).toMatch(/0 +v1 +Secret +shop +postgresql\n/);
  expect(ended.stdout).toMatch(/DATABASE_PASSWORD +•+ +given/);
  expect(ended.stdout).toContain("reachable at postgresql:5432");
  expect(ended.stdout).not.toContain(SECRET);
});

test.each(["table", "json", "yaml"])("plan -o %s holds a secret with --show-secrets only", async (form) => {
  const args = ["plan", "-f", POSTGRESQL, "-o", form, "-p", `DATABASE_PASSWORD=${SECRET}`];
  expect((await provision(...args)).stdout).not.toContain(SECRET);
  expect((await provision(...args, "--show-secrets")).stdout).toContain(SECRET);
});

test("plan -o json holds what is to be sent", async () => {
  const ended = await provision("plan", "-f", join(EXAMPLES, "message-broker.yaml"), "-n", "shop", "-o", "json");
  const { plans, faults } = JSON.parse(ended.stdout);
  expect(faults).toEqual([]);
  expect(plans[0].objects[2].body).toMatchObject({
    metadata: { name: "broker", namespace: "shop", labels: { app: "broker" } },
    spec: { ports: [{ port: 9092, nodePort: 30992 }] },
  });
});

test("P1, P30: all faults come at once, with lines, and exit 3", async () => {
  const path = file(
    "bad.yaml",
    `apiVersion: template.openshift.io/v1
kind: Template
parameters:
  - name: A
    required: true
  - name: A
  - name: B
    generate: uuid
objects:
  - kind: ConfigMap
    metadata: { name: "\${NOPE}" }
`,
  );
  const ended = await provision("plan", "-f", path, "-p", "TYPO=1", "-p", `B=${SECRET}`, "-p", `B=${SECRET}`);
  expect(ended).toMatchObject({ code: 3, stdout: "" });
  expect(ended.stderr).not.toContain(SECRET);
  for (const text of [
    "there is no plan, the template and its values have 7 faults:",
    "no parameter TYPO",
    "two values are given for B",
    ":6:5: /parameters/1/name: a second parameter A",
    ":4:5: /parameters/0: A is required",
    ":8:5: /parameters/2/generate: B: there is no generator uuid",
    ":10:5: /objects/0: this object has no apiVersion",
    ":11:17: /objects/0/metadata/name: ${NOPE} is no parameter",
  ])
    expect(ended.stderr).toContain(text);
});

const HEAD = "apiVersion: template.openshift.io/v1\nkind: Template\n";
const ALIASES = Array.from({ length: 12 }, (_, at) => `  l${at + 1}: &l${at + 1} [${`*l${at},`.repeat(10)}]`);

test.each<[string, string, readonly string[], readonly string[]]>([
  ["what is no YAML", `${HEAD}objects: [`, [], [":3:11: ", "neither YAML nor JSON here"]],
  ["another kind", "apiVersion: v1\nkind: ConfigMap\n", [], [":2:1: /kind: ", "a template has kind: Template"]],
  ["nothing", "", [], [":1:1: ", "the text is empty"]],
  [
    "an unknown parameter",
    `${HEAD}parameters: [{ name: NAME, value: a }]\nmessage: \${NAME}\n`,
    ["NAM=x"],
    ["no parameter NAM; did you mean NAME?"],
  ],
  ["a parameter twice", `${HEAD}parameters:\n- name: A\n- name: A\nmessage: \${A}\n`, [], [":5:3: /parameters/1/name"]],
  ["a key twice", `${HEAD}message: a\nmessage: b\n`, [], [":4:1: /message"]],
  [
    "a required one without a value",
    `${HEAD}parameters:\n- { name: A, required: true }\n`,
    [],
    [":4:3: /parameters/0"],
  ],
  ["10 MB", `${HEAD}message: ${"x".repeat(10_000_000)}\n`, [], [":1:1: ", "more than 8 MiB"]],
  ["10 MB of other letters", `${HEAD}message: ${"€".repeat(9_000_000)}\n`, [], [":1:1: ", "more than 8 MiB"]],
  ["a bomb of aliases", `${HEAD}objects:\n- l0: &l0 [x]\n${ALIASES.join("\n")}\n`, [], ["more than 500000 values"]],
  ["deep lists", `${HEAD}objects: ${"[".repeat(200)}${"]".repeat(200)}\n`, [], ["nested deeper than 100"]],
])("a bad template ends with 3, its place and nothing created: %s", async (_, text, values, parts) => {
  const path = file("one.yaml", text);
  const params = values.flatMap((value) => ["-p", value]);
  // No cluster is to be had: had it been asked, the end would be another one.
  const nowhere = ["--kubeconfig", join(folder, "none"), "--state", join(folder, "runs")];
  for (const command of [
    ["plan", "-f", path, ...params],
    ["apply", "-f", path, "-n", "shop", ...params, ...nowhere],
  ]) {
    const ended = await provision(...command);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    for (const part of parts) expect(ended.stderr).toContain(part);
  }
});

test("keys of prototypes are plain data, from the file to what is to be sent", async () => {
  const data = '{ "__proto__": "a", "constructor": "b", "hasOwnProperty": "c" }';
  const text = `${HEAD}objects:\n- { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, data: ${data} }\n`;
  const ended = await provision("plan", "-f", file("prototype.yaml", text), "-o", "json");
  expect(ended.code).toBe(0);
  expect(JSON.stringify(JSON.parse(ended.stdout).plans[0].objects[0].body.data)).toBe(
    '{"__proto__":"a","constructor":"b","hasOwnProperty":"c"}',
  );
});

test("a file of letters that take several bytes each is read to its end", async () => {
  const text = `${HEAD}message: ${"é".repeat(5_000_000)}\nobjects:\n- { kind: ConfigMap }\n`;
  const ended = await provision("plan", "-f", file("long.yaml", text));
  expect([ended.code, ended.stderr]).toEqual([
    3,
    expect.stringContaining(":5:3: /objects/0: this object has no apiVersion"),
  ]);
});

test("values come from a file, and -p wins", async () => {
  const values = file("values.env", `# of the shop\nNAME=from-file\nDATABASE_NAME="two\nlines"\nDATABASE_USER=a=b\n`);
  const ended = await provision(
    "plan",
    "-f",
    POSTGRESQL,
    "--param-file",
    values,
    "-p",
    "NAME=cart",
    "-o",
    "json",
    "--show-secrets",
  );
  const { parameters } = JSON.parse(ended.stdout).plans[0];
  const value = (wanted: string) => parameters.find(({ name }: { name: string }) => name === wanted).value;
  expect(["NAME", "DATABASE_NAME", "DATABASE_USER"].map(value)).toEqual(["cart", "two\nlines", "a=b"]);
});

test("a folder is planned whole; a value must suit one of its templates", async () => {
  const required = [
    "NAME=a",
    "IMAGE=i",
    "HOST_NAME=h",
    "SOURCE_REPOSITORY_URL=u",
    "TLS_CERTIFICATE=c",
    "TLS_PRIVATE_KEY=k",
  ];
  const more = ["SOURCE_URI=s", "S3_BUCKET=b", "S3_ACCESS_ID=i", "S3_API_KEY=key", "NAMESPACE=team", "TEAM=blue"];
  const args = [...required, ...more].flatMap((value) => ["-p", value]);
  const ended = await provision("plan", "-f", EXAMPLES, ...args);
  expect(ended.code).toBe(0);
  expect(ended.stdout.match(/strict mode\)/g)).toHaveLength(10);
  const wrong = await provision("plan", "-f", EXAMPLES, ...args, "-p", "IMAEG=x");
  expect(wrong.code).toBe(3);
  expect(wrong.stderr).toContain("no parameter IMAEG");
});

test("C3: plan --explain lists what the modes make of a template differently", async () => {
  const ended = await provision("plan", "-f", POSTGRESQL, "--explain");
  expect(ended.code).toBe(0);
  expect(ended.stdout).toContain("DATABASE_PASSWORD: in compat mode ranges lack their last character");
});

test("dialog prints JSON Schema and hints, and a preview", async () => {
  const { code, stdout } = await provision("dialog", "-f", POSTGRESQL);
  expect(code).toBe(0);
  const { schema, ui } = JSON.parse(stdout);
  expect(schema.properties.parameters.properties.DATABASE_PASSWORD).toEqual({
    type: "string",
    title: "DB password",
    format: "password",
    writeOnly: true,
  });
  expect(ui.parameters.DATABASE_PASSWORD["ui:placeholder"]).toBe("generated if left empty (16 characters)");
  const preview = await provision("dialog", "-f", POSTGRESQL, "--preview");
  expect(preview.stdout).toMatch(/Service name \* +\[postgresql +\]/);
  expect(preview.stdout).toContain("1 Deployment (apps/v1)");
});

test("dialog of a bad template exits 3", async () => {
  const ended = await provision("dialog", "-f", file("list.yaml", "- 1\n"));
  expect(ended).toMatchObject({ code: 3, stdout: "" });
  expect(ended.stderr).toContain("found a list");
});

test("every command of provisioning has examples in its help", async () => {
  const { stdout } = await provision("--help");
  const names = [...stdout.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(([, name]) => name ?? "");
  expect(names.length).toBeGreaterThan(10);
  for (const name of ["", ...names]) {
    const help = await provision(...(name === "" ? [] : [name]), "--help");
    expect(help.stdout, name).toMatch(/Examples:\n.*trawl provision/);
  }
});

test("catalog lists the templates of a folder", async () => {
  const { code, stdout } = await provision("catalog", EXAMPLES);
  expect(code).toBe(0);
  expect(stdout).toMatch(/postgresql +One PostgreSQL server/);
  expect(JSON.parse((await provision("catalog", EXAMPLES, "-o", "json")).stdout)).toHaveLength(10);
});

test("a file that is not there, and -p without =, are wrong usage and tell no value", async () => {
  expect(await provision("plan", "-f", join(folder, "none.yaml"))).toMatchObject({ code: 2, stdout: "" });
  const wrong = await provision("plan", "-f", POSTGRESQL, "-p", SECRET);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).not.toContain(SECRET);
});
