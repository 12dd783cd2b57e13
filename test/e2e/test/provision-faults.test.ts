import { kubectl } from "@trawler/testbed";
import { afterEach, beforeEach, expect, test } from "vitest";
import { faultProxy, holdAnswers } from "../src/fault-proxy.ts";
import { deployment } from "../src/manifests.ts";
import { apply, removeNamespace } from "../src/node.ts";
import { stopApiServer } from "../src/outage.ts";
import { configMap, invalid, namesOf, objectOf, Provisioner, states } from "../src/provision.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

onNode("provisioning under faults", "e2e-provision-faults", (namespace) => {
  let trawl: Provisioner;
  beforeEach(async () => {
    trawl = await Provisioner.open(namespace);
  });
  afterEach(async () => {
    await trawl[Symbol.asyncDispose]();
    await kubectl(["delete", "configmaps,secrets,deployments", "--all", "-n", namespace, "--wait=false"]);
  });

  test("P15, P20, failure 11: kill -9 between a POST and the journal: resume finds the object and makes no second one", async () => {
    const held = holdAnswers(({ creates, name }) => creates && name === "b");
    await using proxy = await faultProxy(held.rule);
    const generated = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { key: "sWordfish-42" } };
    const objects = [generated, secret, configMap("a"), configMap("b"), configMap("c")];
    const spawned = await trawl.spawnApply(objects, { server: proxy.url }, "--parallel", "1");
    await held.reached;
    spawned.child.kill("SIGKILL");
    await spawned.done;
    held.pass();
    const made = [await objectOf("configmap", namespace, "a"), await objectOf("configmap", namespace, "b")];
    const instance = await trawl.instance();
    expect(await trawl.dump()).not.toMatch(/sWordfish|c1dvcmRmaXNo/);
    const before = await trawl.command("status", instance);
    // The whole wave was written down before its first request; what came of it may be lost with the process.
    expect(states(before).slice(3)).toEqual(["ConfigMap b: creating", "ConfigMap c: creating"]);
    const done = await trawl.command("resume", instance, { server: proxy.url });
    expect([done.code, done.report.state]).toEqual([0, "SUCCEEDED"]);
    expect(done.report.objects.slice(2, 4).map(({ uid }) => uid)).toEqual(made.map((object) => object?.metadata.uid));
    expect(await namesOf("configmap", namespace)).toHaveLength(4);
    await trawl.command("retire", instance, { server: proxy.url });
    expect(await namesOf("configmap", namespace)).toEqual([]);
  });

  test("R12: kill -9 during a rollback: resume ends it the same; what is not ours stays", async () => {
    const held = holdAnswers(({ method }) => method === "DELETE");
    await using proxy = await faultProxy(held.rule);
    await apply({ ...configMap("stranger"), metadata: { name: "stranger", namespace } });
    const objects = [configMap("a"), configMap("b"), invalid("c")];
    const spawned = await trawl.spawnApply(objects, { server: proxy.url }, "--no-dry-run", "--parallel", "1");
    await held.reached;
    spawned.child.kill("SIGKILL");
    await spawned.done;
    held.pass();
    const done = await trawl.command("resume", await trawl.instance(), { server: proxy.url });
    expect([done.code, done.report.state, done.report.rollback]).toEqual([1, "FAILED", "complete"]);
    expect(states(done)).toEqual(["ConfigMap a: rolledBack", "ConfigMap b: rolledBack", "ConfigMap c: failed"]);
    expect(done.report.headline).toMatch(/^ConfigMap e2e-provision-faults\/c: /);
    expect(await namesOf("configmap", namespace)).toEqual(["stranger"]);
  });

  test("P21: at SIGINT what is under way is awaited, then all is undone", async () => {
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    await using proxy = await faultProxy(({ creates, name }) => {
      if (!creates || name !== "b") return undefined;
      const after = (): Promise<void> => {
        reached.resolve();
        return go.promise;
      };
      return { after };
    });
    const objects = [configMap("a"), configMap("b"), configMap("c")];
    const spawned = await trawl.spawnApply(objects, { server: proxy.url }, "--parallel", "1");
    await reached.promise;
    spawned.child.kill("SIGINT");
    await waitFor("the signal to be seen", () => spawned.stderr.includes("SIGINT: cancelling"));
    go.resolve();
    const done = await spawned.done;
    expect([done.code, done.report.state, done.report.rollback]).toEqual([1, "FAILED", "complete"]);
    expect(await namesOf("configmap", namespace)).toEqual([]);
  });

  test("P21: a second SIGINT ends it at once, and the journal says what may exist", async () => {
    const held = holdAnswers(({ creates, name }) => creates && name === "b");
    await using proxy = await faultProxy(held.rule);
    const objects = [configMap("a"), configMap("b")];
    const spawned = await trawl.spawnApply(objects, { server: proxy.url }, "--parallel", "1");
    await held.reached;
    spawned.child.kill("SIGINT");
    await waitFor("the signal to be seen", () => spawned.stderr.includes("SIGINT: cancelling"));
    const { promise: exit, resolve } = Promise.withResolvers<number | null>();
    spawned.child.once("exit", resolve);
    spawned.child.kill("SIGINT");
    expect(await exit).toBe(130);
    const instance = await trawl.instance();
    expect(states(await trawl.command("status", instance))[1]).toBe("ConfigMap b: creating");
    const done = await trawl.command("cancel", instance, { server: proxy.url });
    expect([done.code, done.report.state, done.report.rollback]).toEqual([1, "FAILED", "complete"]);
    expect(await namesOf("configmap", namespace)).toEqual([]);
  });

  test("P21: cancel ends a run of another process, which undoes what it made; meanwhile nobody else may take it", async () => {
    const bad = deployment(namespace, "bad", 1, { containers: [{ image: "none.example.test/none:1" }] });
    const spawned = await trawl.spawnApply([configMap("a"), bad], {}, "--until", "ready");
    await waitFor("it to wait", () => spawned.stderr.includes("WAITING"));
    const instance = await trawl.instance();
    const taken = await trawl.command("rollback", instance);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining("at work in another process")]);
    const cancelled = await trawl.command("cancel", instance);
    const done = await spawned.done;
    expect([done.code, done.report.state, done.report.headline]).toEqual([1, "FAILED", "cancelled"]);
    expect(cancelled.report).toEqual(done.report);
    expect(await namesOf("configmaps,deployments", namespace)).toEqual([]);
  });

  test("Failure 17: two runs of the same names at once: one SUCCEEDED, the other FAILED, and neither removes what the other made", async () => {
    let arrived = 0;
    const both = Promise.withResolvers<void>();
    await using proxy = await faultProxy(async ({ creates, name }) => {
      if (creates && name === "a") {
        if (++arrived === 2) both.resolve();
        await both.promise;
      }
      return undefined;
    });
    const objects = [configMap("a"), configMap("b"), configMap("c")];
    const runs = await Promise.all([1, 2].map(() => trawl.apply(objects, { server: proxy.url }, "--parallel", "1")));
    expect(runs.map(({ report }) => report.state).toSorted()).toEqual(["FAILED", "SUCCEEDED"]);
    const winner = runs.find(({ report }) => report.state === "SUCCEEDED");
    const loser = runs.find(({ report }) => report.state === "FAILED");
    expect(loser?.report.objects[0]?.error?.reason).toBe("Conflict");
    for (const { name, uid } of winner?.report.objects ?? []) {
      expect((await objectOf("configmap", namespace, name ?? ""))?.metadata.uid).toBe(uid);
    }
  });

  test("Failure 21: an API server that restarts in the middle: all 40 objects, each once", async () => {
    let made = 0;
    const some = Promise.withResolvers<void>();
    await using proxy = await faultProxy(({ creates }) => {
      if (creates && ++made === 10) some.resolve();
      return undefined;
    });
    const objects = Array.from({ length: 40 }, (_, at) => configMap(`c${at + 1}`));
    const running = trawl.apply(objects, { server: proxy.url }, "--parallel", "2");
    await some.promise;
    await using apiServer = await stopApiServer();
    await apiServer.end();
    const done = await running;
    expect([done.code, done.report.state]).toEqual([0, "SUCCEEDED"]);
    const uids = await kubectl(["get", "configmaps", "-n", namespace, "-o", "jsonpath={.items[*].metadata.uid}"]);
    const found = new Set(uids.stdout.split(" "));
    expect(done.report.objects.every(({ uid }) => uid !== null && found.has(uid))).toBe(true);
    expect(await namesOf("configmap", namespace)).toHaveLength(40);
  });

  test("R10, R11: a finalizer that never ends: named, PARTIAL; once it is gone the rollback ends", async () => {
    const stuck = { metadata: { name: "stuck", finalizers: ["e2e.trawler.dev/never"] } };
    const objects = [configMap("a"), configMap("stuck", stuck), invalid("c")];
    const done = await trawl.apply(objects, {}, "--no-dry-run", "--rollback-timeout", "2s");
    expect([done.code, done.report.state, done.report.rollback]).toEqual([4, "PARTIAL", "incomplete"]);
    expect(states(done)).toEqual(["ConfigMap a: rolledBack", "ConfigMap stuck: rollbackFailed", "ConfigMap c: failed"]);
    expect(done.report.leftovers).toMatchObject([
      { name: "stuck", uid: done.report.objects[1]?.uid, why: expect.stringContaining("e2e.trawler.dev/never") },
    ]);
    const patch = JSON.stringify({ metadata: { finalizers: null } });
    await kubectl(["patch", "configmap", "stuck", "-n", namespace, "--type", "merge", "-p", patch]);
    const again = await trawl.command("rollback", done.report.instance);
    expect([again.code, again.report.state, again.report.leftovers]).toEqual([1, "FAILED", []]);
  });

  test("R3, failure 15: an object that is replaced during the rollback is left alone", async () => {
    await using proxy = await faultProxy(async ({ method, name }) => {
      if (method !== "DELETE" || name !== "a") return undefined;
      await kubectl(["delete", "configmap", "a", "-n", namespace]);
      await apply({ ...configMap("a", { data: { of: "stranger" } }), metadata: { name: "a", namespace } });
      return undefined;
    });
    const done = await trawl.apply(
      [configMap("a"), configMap("b"), invalid("c")],
      { server: proxy.url },
      "--no-dry-run",
    );
    expect(states(done).slice(0, 2)).toEqual(["ConfigMap a: replaced", "ConfigMap b: rolledBack"]);
    expect([done.code, done.report.state]).toEqual([1, "FAILED"]);
    expect((await objectOf("configmap", namespace, "a"))?.data).toEqual({ of: "stranger" });
  });

  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "boats.e2e.trawler.dev" },
    spec: {
      group: "e2e.trawler.dev",
      scope: "Namespaced",
      names: { kind: "Boat", plural: "boats", singular: "boat" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  const boat = (name: string) => ({ apiVersion: "e2e.trawler.dev/v1", kind: "Boat", metadata: { name } });

  test("P2, R9, failure 9: a definition with its object, in the wrong order: created; retired, but not over an object of someone else", async () => {
    await kubectl(["delete", "crd", "boats.e2e.trawler.dev", "--ignore-not-found"]);
    const done = await trawl.apply([boat("one"), definition]);
    expect([done.code, done.report.state]).toEqual([0, "SUCCEEDED"]);
    expect(states(done)).toEqual(["Boat one: created", "CustomResourceDefinition boats.e2e.trawler.dev: created"]);
    const other = { ...boat("other"), metadata: { name: "other", namespace } };
    await apply(other);
    const kept = await trawl.command("retire", done.report.instance);
    expect([kept.code, kept.report.state]).toEqual([4, "PARTIAL"]);
    expect(states(kept)).toEqual(["Boat one: rolledBack", "CustomResourceDefinition boats.e2e.trawler.dev: kept"]);
    expect(await namesOf("boats.e2e.trawler.dev", namespace)).toEqual(["other"]);
    await kubectl(["delete", "boats.e2e.trawler.dev", "other", "-n", namespace]);
    const gone = await trawl.command("retire", done.report.instance);
    expect([gone.code, gone.report.state]).toEqual([0, "RETIRED"]);
  });

  test("R8, failure 25: a namespace of the run goes with it, but not with a stranger in it", async () => {
    const place = `${namespace}-own`;
    await removeNamespace(place);
    await waitFor("it to be gone", async () => (await objectOf("namespace", namespace, place)) === null, 60_000);
    const line = ["--create-namespace", "-n", place, "--no-dry-run"];
    const first = await trawl.apply([configMap("a"), invalid("b")], {}, ...line);
    expect([first.code, first.report.state, first.report.rollback]).toEqual([1, "FAILED", "complete"]);
    expect(states(first)[0]).toBe(`Namespace ${place}: rolledBack`);
    expect(await objectOf("namespace", namespace, place)).toBeNull();
    await using proxy = await faultProxy(async ({ creates, name }) => {
      if (creates && name === "b")
        await apply({ ...configMap("stranger"), metadata: { name: "stranger", namespace: place } });
      return undefined;
    });
    const second = await trawl.apply([configMap("a"), invalid("b")], { server: proxy.url }, ...line, "--parallel", "1");
    expect([second.code, second.report.state]).toEqual([4, "PARTIAL"]);
    expect(states(second)).toEqual([`Namespace ${place}: kept`, "ConfigMap a: rolledBack", "ConfigMap b: failed"]);
    expect(second.report.leftovers[0]?.why).toContain("ConfigMap stranger");
    await removeNamespace(place);
  });

  test("R7: a volume claim that was bound is kept, and so is the namespace that would take it along", async () => {
    const place = `${namespace}-data`;
    const volume = {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: place },
      spec: {
        capacity: { storage: "1Mi" },
        accessModes: ["ReadWriteOnce"],
        persistentVolumeReclaimPolicy: "Retain",
        hostPath: { path: "/nowhere" },
        claimRef: { namespace: place, name: "data" },
      },
    };
    await kubectl(["delete", "persistentvolume", place, "--ignore-not-found"]);
    await apply(volume);
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: {
        storageClassName: "",
        volumeName: place,
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Mi" } },
      },
    };
    const bound = async (): Promise<boolean> =>
      JSON.stringify(await objectOf("persistentvolumeclaim", place, "data")).includes('"phase":"Bound"');
    await using proxy = await faultProxy(async ({ creates, name }) => {
      if (creates && name === "b") await waitFor("the claim to be bound", bound);
      return undefined;
    });
    const line = ["--create-namespace", "-n", place, "--no-dry-run", "--parallel", "1"];
    const done = await trawl.apply([claim, configMap("a"), invalid("b")], { server: proxy.url }, ...line);
    expect([done.code, done.report.state, done.report.rollback]).toEqual([4, "PARTIAL", "incomplete"]);
    expect(states(done)).toEqual([
      `Namespace ${place}: kept`,
      "PersistentVolumeClaim data: kept",
      "ConfigMap a: rolledBack",
      "ConfigMap b: failed",
    ]);
    expect(await bound()).toBe(true);
    expect(done.report.leftovers.map(({ command }) => command)).toEqual([
      `kubectl delete namespaces ${place}`,
      `kubectl delete persistentvolumeclaims data -n ${place}`,
    ]);
    await removeNamespace(place);
    await kubectl(["delete", "persistentvolume", place, "--wait=false"]);
  });

  test("Failure 8: a namespace that is being deleted: refused before, told and not retried for ever in the middle", async () => {
    const place = `${namespace}-ending`;
    await apply({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: place, finalizers: ["e2e.trawler.dev/hold"] },
    });
    await using proxy = await faultProxy(async ({ creates, name }) => {
      if (creates && name === "b") await kubectl(["delete", "namespace", place, "--wait=false"]);
      return undefined;
    });
    const objects = [configMap("a"), configMap("b"), configMap("c")];
    const done = await trawl.apply(objects, { server: proxy.url }, "-n", place, "--parallel", "1");
    expect([done.code, done.report.state, done.report.objects[1]?.error?.code]).toEqual([1, "FAILED", 403]);
    expect(done.report.headline).toContain("being terminated");
    const refused = await trawl.apply(objects, {}, "-n", place);
    expect([refused.code, refused.report.findings?.[0]?.message]).toEqual([3, `namespace ${place} is being deleted`]);
    const patch = JSON.stringify({ metadata: { finalizers: null } });
    await kubectl(["patch", "namespace", place, "--type", "merge", "-p", patch]);
  });

  test("C5, failure 19: a secret in the server's answer is shown nowhere", async () => {
    const secret = "Not-A-Label! really";
    const objects = [
      { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { key: "${PASSWORD}" } },
      configMap("a", { metadata: { name: "a", labels: { leak: "${PASSWORD}" } } }),
    ];
    const refused = await trawl.apply(objects, {}, "-p", `PASSWORD=${secret}`);
    const done = await trawl.apply(objects, {}, "-p", `PASSWORD=${secret}`, "--no-dry-run", "--rollback", "never");
    expect([refused.code, done.code]).toEqual([3, 4]);
    expect(done.report.headline).toContain("metadata.labels");
    const all = [refused, done];
    for (const name of ["status", "logs", "resume", "cancel", "rollback", "retire"])
      all.push(await trawl.command(name, done.report.instance));
    for (const text of all.flatMap((one) => [one.stdout, one.stderr])) expect(text).not.toContain(secret);
    expect(await trawl.dump()).not.toContain(secret);
    expect(await trawl.dump()).not.toContain(Buffer.from(secret).toString("base64"));
  });

  test("P24, P27, failure 13: until ready: a Deployment that runs; one whose image is not there is PARTIAL with its evidence, and only created SUCCEEDED", async () => {
    const good = await trawl.apply(
      [deployment(namespace, "good", 2)],
      {},
      "--until",
      "ready",
      "--ready-timeout",
      "90s",
    );
    expect([good.code, good.report.ready]).toEqual([0, { ready: 1, total: 1, timedOut: false }]);
    const bad = deployment(namespace, "bad", 1, { containers: [{ image: "none.example.test/none:1" }] });
    const done = await trawl.apply([bad], {}, "--until", "ready", "--ready-timeout", "5s");
    expect([done.code, done.report.state, done.report.rollback]).toEqual([4, "PARTIAL", "notRequested"]);
    expect(done.report.evidence[0]?.lines.join("\n")).toMatch(/ErrImageNeverPull/);
    expect(done.report.leftovers).toMatchObject([
      { name: "bad", command: `kubectl delete deployments.apps bad -n ${namespace}` },
    ]);
    const undone = await trawl.command("rollback", done.report.instance);
    expect([undone.code, undone.report.state]).toEqual([1, "FAILED"]);
    const seen = await trawl.apply([bad], {}, "--until", "inventory");
    expect([seen.code, seen.report.state]).toEqual([0, "SUCCEEDED"]);
  });
});
