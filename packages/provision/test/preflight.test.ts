import { expect, test } from "vitest";
import { configMap, Running, statesOf, templateOf } from "./running.ts";

const messages = ({ findings }: { readonly findings: readonly { readonly message: string }[] }) =>
  findings.map(({ message }) => message);

const renamed = ({ metadata, ...object }: { readonly metadata: { readonly name: string } }) => ({
  ...object,
  metadata: { name: `${metadata.name}2` },
});

test("P2: kinds that the server does not have are told together, with the objects; one that the set defines is not among them", async () => {
  await using running = await Running.open();
  const object = (kind: string, name: string) => ({ apiVersion: "example.test/v1", kind, metadata: { name } });
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "boats.example.test" },
    spec: {
      group: "example.test",
      scope: "Namespaced",
      names: { kind: "Boat", plural: "boats" },
      versions: [{ name: "v1", served: true }],
    },
  };
  running.fake.interfere = (_, path) => {
    if (path === "/apis/example.test/v1") return [404, {}];
    if (path !== "/apis/apiextensions.k8s.io/v1") return undefined;
    const kind = { name: "customresourcedefinitions", kind: "CustomResourceDefinition", namespaced: false };
    return [200, { resources: [{ ...kind, verbs: ["create", "delete", "get", "list"] }] }];
  };
  const result = await running.check(
    templateOf([object("Boat", "a"), object("Ship", "b"), configMap("c"), object("Raft", "d"), definition]),
  );
  expect(messages(result)).toEqual([
    "Ship b: the server has no kind Ship in example.test/v1",
    "Raft d: the server has no kind Raft in example.test/v1",
  ]);
  expect(result.objects[0]).toMatchObject({ deferred: true, namespace: "shop", type: { plural: "boats" } });
  expect(running.fake.writes).toEqual([]);
});

test("P3, failure 24: what has no namespace gets none; what needs one and has none is told", async () => {
  await using running = await Running.open();
  const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };
  const placed = await running.check(templateOf([space, configMap("a")]));
  expect(placed.objects.map(({ namespace }) => namespace)).toEqual([null, "shop"]);
  const homeless = await running.check(templateOf([configMap("a")]), { namespace: null });
  expect(messages(homeless)).toEqual(["ConfigMap a: it needs a namespace: name one with --namespace"]);
});

test("P2: kinds of which the server keeps no object are refused before anything is created, projects of OpenShift among them", async () => {
  await using running = await Running.open();
  const kinds = (group: string, ...all: readonly object[]) => ({ groupVersion: `${group}/v1`, resources: all });
  running.fake.interfere = (_, path) => {
    const review = { name: "tokenreviews", kind: "TokenReview", namespaced: false, verbs: ["create"] };
    const request = { name: "projectrequests", kind: "ProjectRequest", namespaced: false, verbs: ["create", "list"] };
    const project = {
      name: "projects",
      kind: "Project",
      namespaced: false,
      verbs: ["create", "delete", "get", "list"],
    };
    if (path === "/apis/authentication.k8s.io/v1") return [200, kinds("authentication.k8s.io", review)];
    if (path === "/apis/project.openshift.io/v1") return [200, kinds("project.openshift.io", request, project)];
    return undefined;
  };
  const object = (apiVersion: string, kind: string) => ({ apiVersion, kind, metadata: { name: "a" } });
  const result = await running.check(
    templateOf([
      object("authentication.k8s.io/v1", "TokenReview"),
      object("project.openshift.io/v1", "ProjectRequest"),
      object("v1", "Project"),
      configMap("c"),
    ]),
  );
  expect(messages(result)).toEqual([
    expect.stringMatching(/^TokenReview a: the server keeps no object of this kind/),
    expect.stringMatching(/^ProjectRequest a: the server keeps no object .*oc new-project/),
    expect.stringMatching(/^Project a: a project holds what others make in it too; .*Namespace$/),
  ]);
  expect(running.fake.writes).toEqual([]);
});

test("P12: in the order of the template each object is a wave of its own", async () => {
  await using running = await Running.open();
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
  const controller = { apiVersion: "v1", kind: "ReplicationController", metadata: { name: "r" } };
  const template = templateOf([controller, configMap("a"), secret]);
  await running.work(await running.begin(template, {}, { order: "template" }));
  await running.work(await running.begin(templateOf([controller, secret].map(renamed))));
  expect(running.fake.made).toEqual(["shop/r", "shop/a", "shop/s", "shop/s2", "shop/r2"]);
});

test("P4: the same kind, namespace and name twice is refused, also where it comes of the target", async () => {
  await using running = await Running.open();
  const result = await running.check(templateOf([configMap("a"), configMap("b"), configMap("a")], "compat"));
  expect(messages(result)).toEqual(["ConfigMap a: object 0 has the same kind, namespace and name"]);
});

test("P5, failure 5: all denials come together, and what could not be deleted again is a warning", async () => {
  await using running = await Running.open();
  running.fake.allow = (verb, plural) => !(verb === "create" && plural === "secrets") && verb !== "delete";
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
  const { findings } = await running.check(templateOf([configMap("a"), configMap("b"), secret]));
  expect(findings.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
    "warning: our credentials may not delete configmaps in namespace shop: a rollback of 2 objects is not possible",
    "error: our credentials may not create secrets in namespace shop (1 object)",
    "warning: our credentials may not delete secrets in namespace shop: a rollback of 1 object is not possible",
  ]);
});

test("P6, failure 10: a webhook that judges no dry runs is noted and stops nothing; the creation decides", async () => {
  await using running = await Running.open();
  running.fake.interfere = (method, path, dryRun) =>
    method === "POST" && path.endsWith("/secrets") && dryRun
      ? [400, { reason: "BadRequest", message: "admission webhook w does not support dry run" }]
      : undefined;
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
  const template = templateOf([configMap("a"), secret]);
  const { findings, objects } = await running.check(template);
  expect(findings).toMatchObject([{ severity: "warning", check: "dryRun", index: 1 }]);
  expect(objects.map(({ unjudged }) => unjudged)).toEqual([null, "admission webhook w does not support dry run"]);
  expect((await running.work(await running.begin(template))).state).toBe("SUCCEEDED");
});

test("P6: what lies in a namespace of the same set is not judged before, with the reason", async () => {
  await using running = await Running.open();
  const options = { createNamespace: true, namespace: "new" };
  const { objects, findings } = await running.check(templateOf([configMap("a")]), options);
  expect(findings).toEqual([]);
  expect(objects.map(({ unjudged }) => unjudged)).toEqual([null, "its namespace is of this run"]);
});

test("P7: adopt-if-ours goes on over what a run of the same template made, never over another's, and removes neither", async () => {
  await using running = await Running.open();
  const { fake } = running;
  fake.interfere = (method, path, dryRun) => {
    const taken = method === "POST" && dryRun && path.endsWith("/configmaps") && fake.objects.size > 0;
    return taken ? [409, { reason: "AlreadyExists", message: "exists" }] : undefined;
  };
  const first = await running.work(await running.begin(templateOf([configMap("a")])));
  const refused = await running.check(templateOf([configMap("a")]));
  expect(messages(refused)).toEqual(["ConfigMap a exists already in namespace shop"]);

  const options = { existing: "adopt-if-ours", template: "t" } as const;
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
  fake.refuse = (name) => (name === "s" ? 422 : undefined);
  const second = await running.work(await running.begin(templateOf([configMap("a"), secret]), {}, options));
  expect([second.state, statesOf(second)]).toEqual(["FAILED", ["a: existing", "s: failed"]]);
  expect(JSON.parse(JSON.stringify(fake.objects.get("shop/a"))).metadata.uid).toBe(first.objects[0]?.uid);
  // The report names what was left alone by its uid too.
  expect(second.objects[0]?.uid).toBe(first.objects[0]?.uid);

  const other = await running.check(templateOf([configMap("a")]), { ...options, template: "another" });
  expect(messages(other)).toEqual(["ConfigMap a exists already in namespace shop: no run of this template made it"]);
  fake.objects.set("shop/a", { kind: "ConfigMap", metadata: { name: "a", uid: "uid-of-a-stranger" } });
  expect(messages(await running.check(templateOf([configMap("a")]), options))).toHaveLength(1);
});

test("failure 18: a template without objects succeeds, with a warning", async () => {
  await using running = await Running.open();
  const report = await running.work(await running.begin(templateOf([])));
  expect([report.state, report.warnings]).toEqual(["SUCCEEDED", ["the template has no objects"]]);
});

test("failure 23: a List is its items in strict mode; in compat mode it is one object, which no server creates", async () => {
  await using running = await Running.open();
  const list = { apiVersion: "v1", kind: "List", items: [configMap("a"), configMap("b")] };
  const strict = await running.check(templateOf([list]));
  expect(strict.objects.map(({ name, path }) => [name, path])).toEqual([
    ["a", "/objects/0/items/0"],
    ["b", "/objects/0/items/1"],
  ]);
  expect(messages(await running.check(templateOf([list], "compat")))).toHaveLength(1);
});
