import { readdirSync, readFileSync } from "node:fs";
import { createApiClient, tokenTarget } from "@trawler/kube";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { Cluster } from "../src/cluster/cluster.ts";
import { answersOf, readAnswers } from "../src/dialog/answers.ts";
import { buildDialog, compareDialogs } from "../src/dialog/build.ts";
import { previewDialog } from "../src/dialog/preview.ts";
import { markRights } from "../src/dialog/rights.ts";
import type { Dialog } from "../src/dialog/types.ts";
import { processTemplate } from "../src/template/process.ts";
import { fakeCluster } from "./fake-cluster.ts";

const EXAMPLES = new URL("../../../examples/templates/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, EXAMPLES), "utf8");
const files = readdirSync(EXAMPLES);

const open = (text: string): Dialog => {
  const { dialog, faults } = buildDialog(text);
  if (dialog === null) throw new Error(JSON.stringify(faults));
  return dialog;
};
const example = (name: string): Dialog => open(read(name));
const field = (dialog: Dialog, name: string) => dialog.fields.find((other) => other.name === name);
const small = (parameter: object, object: object): Dialog =>
  open(
    JSON.stringify({
      apiVersion: "v1",
      kind: "Template",
      parameters: [parameter],
      objects: [{ apiVersion: "v1", kind: "ConfigMap", ...object }],
    }),
  );
/** Answers that the form of postgresql.yaml cannot do without. */
const NEEDED = {
  NAME: "db",
  POSTGRESQL_VERSION: "17",
  DATABASE_NAME: "a",
  MEMORY_LIMIT: "1Gi",
  VOLUME_CAPACITY: "1Gi",
};
const LABEL = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

test("D1, D16: a plain parameter is a line of text under its display name, with its help", () => {
  expect(field(example("web-with-database.yaml"), "HOST_NAME")).toMatchObject({
    control: "text",
    type: "string",
    label: "Host name",
    help: "The name that browsers use.",
    required: true,
    default: null,
  });
  expect(field(example("nightly-backup.yaml"), "SRC_URI")).toMatchObject({
    control: "text",
    required: false,
    default: null,
    label: "SRC_URI",
  });
});

test("D2, D3: a generated password is not required and says what comes", () => {
  expect(field(example("postgresql.yaml"), "DATABASE_PASSWORD")).toMatchObject({
    control: "password",
    label: "DB password",
    required: false,
    generated: true,
    placeholder: "generated if left empty (16 characters)",
    generatedPattern: expect.stringMatching(/^\^\[a.*\{16\}\$$/),
  });
  expect(field(example("postgresql.yaml"), "DATABASE_USER")).toMatchObject({
    control: "text",
    required: false,
    generated: true,
  });
});

test("D2: what a generated value looks like is a hint and no check", () => {
  const dialog = example("postgresql.yaml");
  const { fields, schema } = dialog;
  const password = fields.filter(({ name }) => name === "DATABASE_PASSWORD");
  expect(password.map(({ pattern, maxLength }) => [pattern, maxLength])).toEqual([[null, null]]);
  expect(JSON.stringify(schema)).not.toContain("{16}");
  expect(dialog.ui).toMatchObject({
    parameters: { DATABASE_PASSWORD: { "ui:options": { generated: true, generatedPattern: expect.any(String) } } },
  });
  const own = { DATABASE_PASSWORD: "of my own!" };
  const { values, faults } = readAnswers(dialog, { target: { namespace: "shop" }, parameters: { ...NEEDED, ...own } });
  expect(faults).toEqual([]);
  expect(values).toContainEqual(["DATABASE_PASSWORD", "of my own!"]);
  const broken = small({ name: "A", generate: "expression", from: "plain-[a-f]{2}" }, { x: "${A}" });
  expect(field(broken, "A")?.placeholder).toBe("generated if left empty (8 characters)");
});

test.each([
  "DB_PASS",
  "ROOT_PASSWD",
  "USER_PWD",
  "MY_SECRET",
  "GIT_TOKEN",
  "API_KEY",
  "APIKEY",
  "PRIVATE_KEY",
  "CREDENTIALS",
  "db_password",
])("D3: %s looks secret; its default is not told", (name) => {
  const dialog = small({ name, value: "hunter2", required: true }, { x: `\${${name}}` });
  expect(field(dialog, name)).toMatchObject({
    control: "password",
    secret: true,
    default: null,
    placeholder: "••••••",
    required: false,
  });
  expect(JSON.stringify(dialog) + previewDialog(dialog)).not.toContain("hunter2");
});

test("D3: what goes into Secrets only is secret, whatever its name", () => {
  expect(field(example("ci-server.yaml"), "GIT_TOKEN")).toMatchObject({ control: "password", required: false });
  expect(field(example("reverse-proxy.yaml"), "TLS_CERTIFICATE")).toMatchObject({
    control: "password",
    multiline: true,
    required: true,
  });
});

test("D4: a boolean in double braces is a switch", () => {
  expect(field(example("message-broker.yaml"), "AUTO_CREATE_TOPICS")).toMatchObject({
    control: "switch",
    type: "boolean",
    default: true,
  });
  expect(field(example("nightly-backup.yaml"), "SUSPENDED")).toMatchObject({ control: "switch", default: false });
});

test("D5, D6: numbers, and what their places allow", () => {
  const dialog = example("message-broker.yaml");
  expect(field(dialog, "REPLICAS")).toMatchObject({
    control: "number",
    type: "integer",
    minimum: 0,
    default: 3,
    required: true,
  });
  expect(field(dialog, "PORT")).toMatchObject({ type: "integer", minimum: 1, maximum: 65_535, default: 9092 });
  expect(field(dialog, "NODE_PORT")).toMatchObject({ minimum: 30_000, maximum: 32_767 });
  expect(field(dialog, "RETENTION_HOURS")).toMatchObject({
    control: "number",
    type: "integer",
    minimum: null,
    default: 168,
  });
  const text = small({ name: "REPLICAS", value: "2" }, { spec: { env: [{ name: "R", value: "${REPLICAS}" }] } });
  expect(field(text, "REPLICAS")).toMatchObject({ control: "text", type: "string", default: "2" });
});

test("D5: a number that is no whole one stays a number; what only looks like one is text", () => {
  const ratio = small({ name: "RATIO", value: "0.25" }, { x: "${{RATIO}}" });
  expect(field(ratio, "RATIO")).toMatchObject({ control: "number", type: "number", default: 0.25, minimum: null });
  const answers = { target: { namespace: "shop" }, parameters: { RATIO: 0.5 } };
  expect(readAnswers(ratio, answers).values).toEqual([["RATIO", "0.5"]]);
  const mixed = small({ name: "N", value: "2" }, { x: "${{N}}", y: "a ${N}" });
  expect(field(mixed, "N")).toMatchObject({ control: "text", type: "string", default: "2" });
  const zero = small({ name: "N", value: "007" }, { x: "${{N}}" });
  expect(field(zero, "N")).toMatchObject({ control: "text", type: "string", default: "007" });
});

test.each([
  ["spec.replicas", { spec: { replicas: "${{N}}" } }, 0, null],
  ["a port of a Service", { spec: { ports: [{ port: "${{N}}" }] } }, 1, 65_535],
  ["a target port", { spec: { ports: [{ targetPort: "${{N}}" }] } }, 1, 65_535],
  ["a container's port", { spec: { containers: [{ ports: [{ containerPort: "${{N}}" }] }] } }, 1, 65_535],
  ["a port of every node", { spec: { ports: [{ nodePort: "${{N}}" }] } }, 30_000, 32_767],
])("D6: %s bounds the number, with and without a default", (_, object, minimum, maximum) => {
  for (const parameter of [
    { name: "N", required: true },
    { name: "N", value: "30001" },
  ])
    expect(field(small(parameter, object), "N")).toMatchObject({ type: "integer", minimum, maximum });
});

test("D7: quantities", () => {
  for (const [file, name] of [
    ["postgresql.yaml", "VOLUME_CAPACITY"],
    ["postgresql.yaml", "MEMORY_LIMIT"],
    ["ci-server.yaml", "CPU_REQUEST"],
    ["team-space.yaml", "MEMORY_QUOTA"],
  ] as const) {
    const { control, pattern } = field(example(file), name) ?? {};
    expect(control).toBe("quantity");
    for (const right of ["512Mi", "0.5", "1e3", "100m", "2"]) expect(right).toMatch(new RegExp(pattern ?? ""));
    for (const wrong of ["", "512 Mi", "12MB", "a"]) expect(wrong).not.toMatch(new RegExp(pattern ?? ""));
  }
});

test("D8: names are DNS names in all that is made of them", () => {
  expect(field(example("message-broker.yaml"), "NAME")).toMatchObject({
    control: "text",
    pattern: LABEL,
    maxLength: 54,
  });
  expect(field(example("nightly-backup.yaml"), "NAME")).toMatchObject({ maxLength: 52 - "-nightly".length });
  const prefixed = small({ name: "NAME" }, { kind: "Service", metadata: { name: "svc-${NAME}" } });
  expect(field(prefixed, "NAME")).toMatchObject({ pattern: "^[-a-z0-9]*[a-z0-9]$", maxLength: 59 });
});

test("D8: how long a name may be depends on the kind, and the shortest of all uses counts", () => {
  const named = (kind: string, name: string) => field(small({ name: "N" }, { kind, metadata: { name } }), "N");
  expect(named("ConfigMap", "${N}-settings")).toMatchObject({ maxLength: 253 - "-settings".length });
  expect(named("ConfigMap", "${N}")?.pattern).toContain(".");
  expect(named("Namespace", "${N}")).toMatchObject({ maxLength: 63, pattern: LABEL });
  expect(named("Service", "${N}-${N}")).toMatchObject({ maxLength: 31 });
  const text = JSON.stringify({
    apiVersion: "v1",
    kind: "Template",
    parameters: [{ name: "NAME", required: true }],
    objects: ["${NAME}", "${NAME}-headless"].map((name) => ({ apiVersion: "v1", kind: "Service", metadata: { name } })),
  });
  const both = open(text);
  expect(field(both, "NAME")).toMatchObject({ control: "text", required: true, pattern: LABEL, maxLength: 54 });
  for (const NAME of ["-a", "A", "a".repeat(55)])
    expect(readAnswers(both, { target: { namespace: "shop" }, parameters: { NAME } }).faults).toHaveLength(1);
});

test.each([
  ["PEM on one line", { name: "A", value: "-----BEGIN CERTIFICATE-----" }, { x: "${A}" }],
  ["JSON", { name: "A", value: '{ "a": 1 }' }, { x: "${A}" }],
  ["YAML", { name: "A", value: "--- a" }, { x: "${A}" }],
  ["two lines", { name: "A", value: "a\nb" }, { x: "${A}" }],
  ["a file of a ConfigMap, without a default", { name: "A" }, { data: { "a.conf": "${A}" } }],
])("D9: %s gets a text area, which keeps its lines", (_, parameter, object) => {
  const dialog = small(parameter, object);
  expect(field(dialog, "A")).toMatchObject({ control: "textarea", multiline: true });
  const answers = { target: { namespace: "shop" }, parameters: { A: "one\n two\n" } };
  expect(readAnswers(dialog, answers).values).toEqual([["A", "one\n two\n"]]);
});

test("D10, D11: what is no JSON, and what is no choice, is refused", () => {
  const faultsOf = (dialog: Dialog, value: string) =>
    readAnswers(dialog, { target: { namespace: "shop" }, parameters: { A: value } }).faults.map(
      ({ message }) => message,
    );
  const code = small({ name: "A", value: '["a"]' }, { x: "${{A}}" });
  expect(field(code, "A")).toMatchObject({ control: "code", multiline: true });
  expect([faultsOf(code, "[1"), faultsOf(code, "[1]")]).toEqual([["A takes JSON"], []]);
  const text = JSON.stringify({
    apiVersion: "v1",
    kind: "Template",
    metadata: { annotations: { "trawler.dev/options.A": "small, large" } },
    parameters: [{ name: "A", value: "medium" }],
    message: "${A}",
  });
  const choice = open(text);
  expect(field(choice, "A")).toMatchObject({ control: "select", options: ["medium", "small", "large"] });
  expect([faultsOf(choice, "huge"), faultsOf(choice, "large")]).toEqual([["A takes one of medium, small, large"], []]);
});

test("D9, D10, D11: text areas, JSON, choices", () => {
  expect(field(example("reverse-proxy.yaml"), "NGINX_CONF")).toMatchObject({ control: "textarea", multiline: true });
  expect(field(small({ name: "A", value: "x".repeat(81) }, { x: "${A}" }), "A")).toMatchObject({ control: "textarea" });
  expect(field(example("team-space.yaml"), "DEFAULT_LIMITS")).toMatchObject({ control: "code" });
  expect(field(example("postgresql.yaml"), "POSTGRESQL_VERSION")).toMatchObject({
    control: "select",
    options: ["17", "16", "15"],
    default: "17",
  });
});

test("D12: a parameter for a namespace takes the target where it is left empty", () => {
  const dialog = example("team-space.yaml");
  expect(field(dialog, "NAMESPACE")).toMatchObject({ control: "namespace", pattern: LABEL });
  const { values } = readAnswers(dialog, { target: { newNamespace: "blue" }, parameters: { TEAM: "blue" } });
  expect(values).toContainEqual(["NAMESPACE", "blue"]);
});

test("D13: what is never used stands last and says so", () => {
  const { dialog, faults } = buildDialog(read("ci-server.yaml"));
  expect(dialog?.fields.filter(({ unused }) => unused).map(({ name }) => name)).toEqual(["OLD_AGENT_PORT"]);
  expect(faults.map(({ code, severity }) => [code, severity])).toEqual([["PARAMETER_UNUSED", "warning"]]);
  expect(JSON.stringify(dialog?.ui)).toMatch(/"ui:order":\["NAME",.*"OLD_AGENT_PORT"\]/);
  expect(dialog?.ui).toMatchObject({
    parameters: { OLD_AGENT_PORT: { "ui:options": { unused: true, collapsed: true } } },
  });
  expect(field(small({ name: "A" }, { x: "1" }), "A")).toMatchObject({ unused: true, required: false });
  // Processing asks for it all the same, and so does the form.
  expect(field(small({ name: "A", required: true }, { x: "1" }), "A")).toMatchObject({ unused: true, required: true });
});

test("D14, D15: undeclared and duplicate names are errors in strict mode only", () => {
  const text = JSON.stringify({
    apiVersion: "v1",
    kind: "Template",
    message: "${NOPE} ${A}",
    parameters: [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ],
  });
  expect(buildDialog(text)).toMatchObject({ dialog: null });
  const { dialog, faults } = buildDialog(text, "compat");
  expect(dialog?.fields).toMatchObject([{ name: "A", default: "2" }]);
  expect(faults.every(({ severity }) => severity === "warning")).toBe(true);
});

test("D17, D19: the target comes first, exactly one; a template without parameters has that alone", () => {
  const dialog = example("hello.yaml");
  expect(dialog.fields).toEqual([]);
  expect(readAnswers(dialog, { target: { namespace: "shop" } })).toEqual({
    target: { namespace: "shop", create: false },
    values: [],
    faults: [],
  });
  expect(readAnswers(dialog, { target: { newNamespace: "shop" } }).target).toEqual({ namespace: "shop", create: true });
  for (const target of [{}, { namespace: "a", newNamespace: "b" }, { namespace: "Not_One" }])
    expect(readAnswers(dialog, { target }).faults).toHaveLength(1);
});

test("D16: the name is always to be seen, in the hints and in the preview", () => {
  const dialog = example("web-with-database.yaml");
  expect(dialog.ui).toMatchObject({ parameters: { HOST_NAME: { "ui:help": "HOST_NAME" } } });
  expect(previewDialog(dialog)).toMatch(/Host name \*? .*\n +HOST_NAME · The name that browsers use\./);
});

test("D12, D17: namespaces to choose from are those that we may list; where we may not, none are told", async () => {
  await using fake = await fakeCluster();
  using client = createApiClient({ target: tokenTarget({ server: fake.url }) });
  const place = (name: string, more: object = {}) =>
    fake.objects.set(`/${name}`, { kind: "Namespace", metadata: { name, ...more } });
  place("shop");
  place("blue");
  place("old", { deletionTimestamp: "2026-01-01T00:00:00Z" });
  const dialog = await markRights(new Cluster(client), example("team-space.yaml"), null);
  expect(dialog.namespaces).toEqual(["blue", "shop"]);
  const listed = { examples: ["blue", "shop"] };
  expect(dialog.schema).toMatchObject({
    properties: {
      target: { properties: { namespace: listed } },
      parameters: { properties: { NAMESPACE: listed } },
    },
  });
  expect(previewDialog(dialog)).toMatch(/Namespace +\[ +\] v {2}blue \| shop\n/);
  // One that is not among them may be right all the same.
  expect(readAnswers(dialog, { target: { namespace: "other" }, parameters: { TEAM: "a" } }).faults).toEqual([]);
  fake.interfere = (method, path) =>
    method === "GET" && path === "/api/v1/namespaces" ? [403, { reason: "Forbidden", message: "no" }] : undefined;
  const blind = await markRights(new Cluster(client), example("team-space.yaml"), null);
  expect(blind.namespaces).toBeNull();
  expect(JSON.stringify(blind.schema)).not.toContain("examples");
  expect(example("team-space.yaml").namespaces).toBeNull();
});

test("D18: an emptied field is not given, unless it is set to empty", () => {
  const dialog = example("postgresql.yaml");
  const target = { namespace: "shop" };
  const parameters = { ...NEEDED, DATABASE_PASSWORD: "", MAX_CONNECTIONS: "" };
  const names = (answers: Parameters<typeof readAnswers>[1]) =>
    readAnswers(dialog, answers).values.map(([name, value]) => `${name}=${value}`);
  expect(names({ target, parameters })).not.toContain("MAX_CONNECTIONS=");
  expect(names({ target, parameters, empty: ["MAX_CONNECTIONS"] })).toContain("MAX_CONNECTIONS=");
});

test("D20: kinds and counts, those of the whole cluster marked, and the message", () => {
  const { creates } = example("team-space.yaml");
  expect(creates.map(({ kind, count, clusterScoped }) => [kind, count, clusterScoped])).toEqual([
    ["PriorityClass", 1, true],
    ["ResourceQuota", 1, false],
    ["LimitRange", 1, false],
    ["RoleBinding", 1, false],
  ]);
  expect(example("build-pipeline.yaml").creates.map(({ apiVersion }) => apiVersion)).toContain("route.openshift.io/v1");
  expect(previewDialog(example("web-with-database.yaml"))).toContain("2 Service (v1)");
});

test("D20: what we may not create is marked; what the server does not know, or does not say, is not", async () => {
  await using fake = await fakeCluster();
  fake.allow = (verb, plural) => verb !== "create" || plural !== "secrets";
  using client = createApiClient({ target: tokenTarget({ server: fake.url }) });
  const object = (kind: string) => ({ apiVersion: "v1", kind, metadata: { name: "a" } });
  const objects = ["Secret", "ConfigMap", "Boat"].map(object);
  const dialog = open(JSON.stringify({ apiVersion: "v1", kind: "Template", objects }));
  const rights = async (namespace: string | null) => {
    const { creates } = await markRights(new Cluster(client), dialog, namespace);
    return creates.map(({ mayCreate }) => mayCreate);
  };
  expect(await rights("shop")).toEqual([false, true, null]);
  // Not in all namespaces; in which it may be is not known before one is chosen.
  expect(await rights(null)).toEqual([null, true, null]);
  expect(dialog.creates.map(({ mayCreate }) => mayCreate)).toEqual([null, null, null]);
  expect(previewDialog(await markRights(new Cluster(client), dialog, "shop"))).toContain(
    "1 Secret (v1): you may not create it",
  );
  expect(fake.writes).toEqual([]);
});

test("D21: all faults of answers at once, with near names", () => {
  const { faults, values } = readAnswers(example("message-broker.yaml"), {
    target: { namespace: "shop" },
    parameters: {
      NAME: "Broker_1",
      REPLICAS: -1,
      PORT: 70_000,
      NODE_PORT: "x",
      STORAGE: "much",
      REPLICS: 2,
      AUTO_CREATE_TOPICS: "yes",
    },
  });
  expect(values).toEqual([]);
  expect(faults.map(({ path, message }) => `${path} ${message}`)).toEqual([
    "/parameters there is no parameter REPLICS; did you mean REPLICAS?",
    "/parameters/NAME NAME takes lower-case letters, digits and -",
    "/parameters/REPLICAS Brokers takes 0 at least",
    "/parameters/PORT PORT takes 65535 at most",
    "/parameters/NODE_PORT Port on every node takes a number",
    "/parameters/STORAGE Volume of a broker takes a quantity, such as 512Mi",
    "/parameters/AUTO_CREATE_TOPICS Make topics at first use takes true or false",
  ]);
});

test("D22: a changed template gives a difference by name", () => {
  const before = example("cache.json");
  const after = open(read("cache.json").replace('"256Mi"', '"512Mi"').replaceAll("EVICTION", "POLICY"));
  expect(compareDialogs(before, after)).toEqual({ added: ["POLICY"], removed: ["EVICTION"], changed: ["MEMORY"] });
});

const answers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "build-pipeline.yaml": { NAME: "app", SOURCE_REPOSITORY_URL: "https://git.invalid/a", REPLICAS: "2" },
  "cache.json": { NAME: "cache", PORT: "6380", EVICTION: "noeviction", REDIS_PASSWORD: "x" },
  "ci-server.yaml": { NAME: "ci", GIT_TOKEN: "t0ken", STARTUP_SCRIPT: "a\nb\n" },
  "hello.yaml": {},
  "message-broker.yaml": {
    NAME: "b",
    REPLICAS: "5",
    PORT: "9093",
    NODE_PORT: "30000",
    AUTO_CREATE_TOPICS: "false",
    STORAGE: "1Ti",
  },
  "nightly-backup.yaml": {
    NAME: "b",
    SCHEDULE: "* * * * *",
    SOURCE_URI: "u",
    S3_BUCKET: "b",
    S3_ACCESS_ID: "i",
    S3_API_KEY: "k",
    SUSPENDED: "true",
    KEEP: "3",
  },
  "postgresql.yaml": { NAME: "db", POSTGRESQL_VERSION: "16", VOLUME_CAPACITY: "5Gi" },
  "reverse-proxy.yaml": { NAME: "p", TLS_CERTIFICATE: "-----BEGIN\nx\n", TLS_PRIVATE_KEY: "y", REPLICAS: "1" },
  "team-space.yaml": { NAMESPACE: "blue", TEAM: "blue", DEFAULT_LIMITS: '{"cpu":1}', PRIORITY: "12345678901234567890" },
  "web-with-database.yaml": {
    NAME: "shop",
    IMAGE: "i",
    HOST_NAME: "h",
    ENABLE_TLS: "true",
    HTTP_PORT: "80",
    REPLICAS: "0",
  },
};

test.each(files)("values of %s go through the form and come back, and its schema agrees", (file) => {
  const text = read(file);
  const dialog = open(text);
  const defaults = dialog.fields.flatMap(({ name, default: value }) =>
    value === null ? [] : [[name, String(value)] as const],
  );
  const given = Object.entries({ ...Object.fromEntries(defaults), ...answers[file] });
  const filled = { target: { namespace: "shop" }, parameters: { ...answersOf(dialog, given) } };
  const { values, faults } = readAnswers(dialog, filled);
  expect(faults).toEqual([]);
  expect(Object.fromEntries(values)).toEqual(Object.fromEntries(given));
  const { template, faults: wrong } = processTemplate(text, { values, namespace: "shop" });
  expect(wrong.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(
    template?.parameters
      .filter(({ name }) => given.some(([other]) => other === name))
      .map(({ name, value }) => [name, value])
      .toSorted(),
  ).toEqual(given.toSorted());

  const validate = new Ajv2020({ strict: true, strictRequired: false, formats: { password: true } }).compile(
    JSON.parse(JSON.stringify(dialog.schema)),
  );
  expect(validate(JSON.parse(JSON.stringify(filled)))).toBe(true);
  expect(validate({ ...filled, parameters: { ...filled.parameters, TYPO: "x" } })).toBe(false);
  expect(validate({ parameters: filled.parameters })).toBe(false);
  expect(previewDialog(dialog)).toContain("Namespace");
});
