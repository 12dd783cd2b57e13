import { kubectl } from "@trawler/testbed";
import { afterEach, beforeEach, expect, test } from "vitest";
import { faultProxy } from "../src/fault-proxy.ts";
import { job } from "../src/manifests.ts";
import { apply } from "../src/node.ts";
import { configMap, invalid, namesOf, objectOf, Provisioner, states } from "../src/provision.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

onNode("provisioning", "e2e-provision", (namespace) => {
  let trawl: Provisioner;
  beforeEach(async () => {
    trawl = await Provisioner.open(namespace);
  });
  afterEach(async () => {
    await trawl[Symbol.asyncDispose]();
    await kubectl([
      "delete",
      "configmaps,secrets,services,jobs,resourcequotas",
      "--all",
      "-n",
      namespace,
      "--wait=false",
    ]);
  });

  const foreign = (name: string) =>
    apply({ ...configMap(name, { data: { of: "stranger" } }), metadata: { name, namespace } });
  const untouched = async (name: string, uid: string | undefined): Promise<void> => {
    const now = await objectOf("configmap", namespace, name);
    expect(now?.metadata.uid).toBe(uid);
    expect(now?.data).toEqual({ of: "stranger" });
  };

  test("P18, R2: 40 objects, a 422 at the 37th: each is told with type, id and state, all that was made is gone, nothing else", async () => {
    await foreign("stranger");
    const stranger = await objectOf("configmap", namespace, "stranger");
    const objects = Array.from({ length: 40 }, (_, at) => (at === 36 ? invalid("c37") : configMap(`c${at + 1}`)));
    const done = await trawl.apply(objects, {}, "--no-dry-run");
    expect(done.code).toBe(1);
    const { report } = done;
    expect(report).toMatchObject({ state: "FAILED", rollback: "complete", leftovers: [] });
    expect(report.headline).toMatch(/^ConfigMap e2e-provision\/c37: .*not a key/);
    expect(report.objects.map(({ name }) => name)).toEqual(objects.map((_, at) => `c${at + 1}`));
    for (const { index, type, uid, status, error } of report.objects) {
      expect(type).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", plural: "configmaps" });
      if (index < 36) expect([status, uid]).toEqual(["rolledBack", expect.stringMatching(/^[0-9a-f-]{36}$/)]);
      if (index === 36) expect([status, uid, error?.code, error?.reason]).toEqual(["failed", null, 422, "Invalid"]);
      if (index > 36) expect(["rolledBack", "skipped"]).toContain(status);
    }
    expect(await namesOf("configmap", namespace)).toEqual(["stranger"]);
    await untouched("stranger", stranger?.metadata.uid);
  });

  test("P6, P9: the server's judgement comes before any creation: exit 3, the field is named, nothing was asked to be kept", async () => {
    await using proxy = await faultProxy();
    const done = await trawl.apply([configMap("a"), invalid("b"), configMap("c")], { server: proxy.url });
    expect(done.code).toBe(3);
    expect(done.report.findings?.map(({ message }) => message).join()).toMatch(/ConfigMap b: data\[not a key\]/);
    expect(proxy.requests.filter(({ creates }) => creates)).toEqual([]);
    expect(proxy.requests.filter(({ method }) => method !== "GET" && method !== "POST")).toEqual([]);
  });

  test("C147, P7, R2, failures 4 and 22: a victim of the same name is refused, or left alone with --existing skip, also by the rollback", async () => {
    await foreign("two");
    const victim = await objectOf("configmap", namespace, "two");
    const objects = [configMap("one"), configMap("two"), configMap("three"), invalid("four"), configMap("five")];
    const refused = await trawl.apply(objects.filter((_, at) => at !== 3));
    expect([refused.code, refused.report.findings?.[0]?.check]).toEqual([3, "existing"]);
    const done = await trawl.apply(objects, {}, "--no-dry-run", "--existing", "skip", "--parallel", "1");
    expect([done.code, done.report.state, done.report.rollback]).toEqual([1, "FAILED", "complete"]);
    expect(states(done)).toEqual([
      "ConfigMap one: rolledBack",
      "ConfigMap two: existing",
      "ConfigMap three: rolledBack",
      "ConfigMap four: failed",
      "ConfigMap five: skipped",
    ]);
    await untouched("two", victim?.metadata.uid);
    expect(await namesOf("configmap", namespace)).toEqual(["two"]);
  });

  test("P6, R2: a victim that comes between the checks and the creation is a conflict, and stays", async () => {
    await using proxy = await faultProxy(async ({ creates, name }) => {
      if (creates && name === "b") await foreign("b");
      return undefined;
    });
    const done = await trawl.apply([configMap("a"), configMap("b")], { server: proxy.url }, "--parallel", "1");
    expect([done.code, done.report.objects[1]?.error?.reason]).toEqual([1, "Conflict"]);
    expect(states(done)).toEqual(["ConfigMap a: rolledBack", "ConfigMap b: failed"]);
    expect((await objectOf("configmap", namespace, "b"))?.data).toEqual({ of: "stranger" });
  });

  test("C150, P16, failures 2 and 16: a POST whose answer is lost is recognised as ours; a generated name is not made twice", async () => {
    const lost = new Set<string>();
    await using proxy = await faultProxy(({ creates, name }) => {
      if (!creates || lost.has(name)) return undefined;
      lost.add(name);
      return "drop";
    });
    const generated = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } };
    const done = await trawl.apply([configMap("a"), generated, configMap("c")], { server: proxy.url });
    expect([done.code, done.report.state]).toEqual([0, "SUCCEEDED"]);
    const names = (await namesOf("configmap", namespace)).toSorted();
    expect(names).toEqual(["a", "c", expect.stringMatching(/^made-/)]);
    expect(done.report.objects.map(({ name }) => name)).toEqual(["a", names[2], "c"]);
    for (const { name, uid, attempts } of done.report.objects) {
      expect((await objectOf("configmap", namespace, name ?? ""))?.metadata.uid).toBe(uid);
      expect(attempts).toBe(1);
    }
    const retired = await trawl.command("retire", done.report.instance, { server: proxy.url });
    expect([retired.code, retired.report.state]).toEqual([0, "RETIRED"]);
    expect(await namesOf("configmap", namespace)).toEqual([]);
  });

  test("P16, failure 3: a POST that is lost on its way while a stranger takes the name is a conflict, never deleted", async () => {
    await using proxy = await faultProxy(async ({ creates, name }) => {
      if (!creates || name !== "a") return undefined;
      await foreign("a");
      return "lose";
    });
    const done = await trawl.apply([configMap("a")], { server: proxy.url });
    expect([done.code, done.report.state, done.report.objects[0]?.status]).toEqual([1, "FAILED", "failed"]);
    expect((await objectOf("configmap", namespace, "a"))?.data).toEqual({ of: "stranger" });
  });

  /** A token of an account with these rights on ConfigMaps. */
  const tokenFor = async (name: string, verbs: readonly string[]): Promise<string> => {
    const metadata = { name, namespace };
    await apply(
      { apiVersion: "v1", kind: "ServiceAccount", metadata },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata,
        rules: [{ apiGroups: [""], resources: ["configmaps"], verbs }],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata,
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      },
    );
    return (await kubectl(["create", "token", name, "-n", namespace])).stdout.trim();
  };

  test("P5, failure 5: no right to create: all denials together, exit 3, nothing created", async () => {
    const token = await tokenFor("reader", ["get", "create", "delete"]);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "v" }, spec: { ports: [{ port: 1 }] } };
    const done = await trawl.apply([configMap("a"), secret, service], { token });
    const denied = done.report.findings?.filter(({ message }) => message.includes("may not create")) ?? [];
    expect([done.code, denied.length]).toEqual([3, 2]);
    expect(await namesOf("configmap", namespace)).toEqual([]);
  });

  test("C148, R10, P31, failure 6: no right to delete: PARTIAL with the first error, ids and commands; a rollback by another account ends it", async () => {
    const token = await tokenFor("creator", ["get", "create"]);
    const done = await trawl.apply([configMap("a"), configMap("b"), invalid("c")], { token }, "--no-dry-run");
    expect([done.code, done.report.state, done.report.rollback]).toEqual([4, "PARTIAL", "incomplete"]);
    expect(done.report.headline).toMatch(/^ConfigMap e2e-provision\/c: .*not a key/);
    expect(done.report.warnings.join()).toContain("may not delete configmaps");
    expect(done.report.leftovers).toEqual(
      ["a", "b"].map((name, at) => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        namespace,
        name,
        uid: done.report.objects[at]?.uid,
        why: expect.stringContaining("forbidden"),
        command: `kubectl delete configmaps ${name} -n ${namespace}`,
      })),
    );
    // One of them goes by other hands: to be gone is what was wanted.
    await kubectl(["delete", "configmap", "a", "-n", namespace]);
    const again = await trawl.command("rollback", done.report.instance);
    expect([again.code, again.report.state, again.report.rollback]).toEqual([1, "FAILED", "complete"]);
    expect(again.report.headline).toBe(done.report.headline);
    expect(await namesOf("configmap", namespace)).toEqual([]);
    expect((await trawl.command("rollback", done.report.instance)).report).toEqual(again.report);
  });

  test("P29: an answer that is lost where we may not look: unknown, PARTIAL, and named", async () => {
    const token = await tokenFor("blind", ["create", "delete"]);
    await using proxy = await faultProxy(({ creates, name }) => (creates && name === "a" ? "drop" : undefined));
    const done = await trawl.apply([configMap("a")], { token, server: proxy.url });
    expect([done.code, done.report.state, done.report.objects[0]?.status]).toEqual([4, "PARTIAL", "unknown"]);
    expect(done.report.leftovers[0]?.command).toBe(`kubectl delete configmaps a -n ${namespace}`);
  });

  test("P8, failure 7: a quota is counted before; what it refuses at creation is rolled back", async () => {
    const hard = { secrets: "2", "requests.cpu": "1" };
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q", namespace }, spec: { hard } };
    await apply(quota);
    await waitFor("the quota to be counted", async () =>
      JSON.stringify(await objectOf("resourcequota", namespace, "q")).includes('"used"'),
    );
    const secrets = ["a", "b", "c"].map((name) => ({ apiVersion: "v1", kind: "Secret", metadata: { name } }));
    const refused = await trawl.apply(secrets);
    expect([refused.code, refused.report.findings?.[0]?.check]).toEqual([3, "quota"]);
    const pod = (name: string) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name },
      spec: {
        nodeSelector: { none: "such" },
        containers: [{ name: "c", image: "none", resources: { requests: { cpu: "600m" } } }],
      },
    });
    const done = await trawl.apply([configMap("a"), pod("x"), pod("y")], {}, "--parallel", "1");
    expect([done.code, done.report.state, done.report.rollback]).toEqual([1, "FAILED", "complete"]);
    expect(states(done)).toEqual(["ConfigMap a: rolledBack", "Pod x: rolledBack", "Pod y: failed"]);
    expect(done.report.headline).toContain("exceeded quota");
  });

  test("P17, failure 12: 429 slows down and fails nothing", async () => {
    let refusals = 12;
    await using proxy = await faultProxy(({ creates }) =>
      creates && refusals-- > 0 ? { status: 429, headers: { "retry-after": "0" } } : undefined,
    );
    const done = await trawl.apply([configMap("a"), configMap("b")], { server: proxy.url });
    expect([done.code, done.report.state]).toEqual([0, "SUCCEEDED"]);
    expect(refusals).toBeLessThan(0);
  });

  test("P19: a run that is over is not repeated; --rollback never leaves what was made, and resume adds the rest", async () => {
    let broken = true;
    await using proxy = await faultProxy(({ creates, name }) =>
      broken && creates && name === "b" ? { status: 403 } : undefined,
    );
    const objects = [configMap("a"), configMap("b"), configMap("c")];
    const first = await trawl.apply(objects, { server: proxy.url }, "--parallel", "1", "--rollback", "never");
    expect([first.code, first.report.state, first.report.rollback]).toEqual([4, "PARTIAL", "notRequested"]);
    expect(states(first)).toEqual(["ConfigMap a: created", "ConfigMap b: failed", "ConfigMap c: skipped"]);
    broken = false;
    const second = await trawl.command("resume", first.report.instance, { server: proxy.url });
    expect([second.code, second.report.state, second.report.leftovers]).toEqual([0, "SUCCEEDED", []]);
    expect(second.report.objects[0]?.uid).toBe(first.report.objects[0]?.uid);
    const count = proxy.requests.length;
    const third = await trawl.command("resume", first.report.instance, { server: proxy.url });
    expect(third.report).toEqual(second.report);
    expect(proxy.requests.length).toBe(count);
  });

  test("P23: until inventory, each object is seen by single GETs: no list", async () => {
    await using proxy = await faultProxy();
    const objects = Array.from({ length: 20 }, (_, at) => configMap(`c${at + 1}`));
    const done = await trawl.apply(objects, { server: proxy.url }, "--until", "inventory");
    expect([done.code, done.report.ready]).toEqual([0, { ready: 20, total: 20, timedOut: false }]);
    const reads = proxy.requests.filter(({ method, path }) => method === "GET" && path.includes("/configmaps"));
    expect(reads.map(({ name }) => name).toSorted()).toEqual(objects.map((_, at) => `c${at + 1}`).toSorted());
  });

  test("P29, failure 18: a template without objects succeeds, with a warning", async () => {
    const done = await trawl.apply([]);
    expect([done.code, done.report.state, done.report.warnings]).toEqual([
      0,
      "SUCCEEDED",
      ["the template has no objects"],
    ]);
  });

  test("R5, P27, failure 14: a Job is rolled back with its pods, and why it was not ready is kept", async () => {
    const done = await trawl.apply(
      [configMap("a"), job(namespace, "slow", "echo hello from the job; sleep 600")],
      {},
      "--until",
      "ready",
      "--ready-timeout",
      "6s",
      "--rollback",
      "auto",
    );
    expect([done.code, done.report.state, done.report.rollback]).toEqual([1, "FAILED", "complete"]);
    expect(done.report.ready).toEqual({ ready: 1, total: 2, timedOut: true });
    expect(states(done)).toEqual(["ConfigMap a: rolledBack", "Job slow: rolledBack"]);
    expect(done.report.evidence.map(({ index }) => index)).toEqual([1]);
    expect(await namesOf("pods", namespace)).toEqual([]);
  });
});
