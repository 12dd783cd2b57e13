import { fakeApi, fakeStatus } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import { createApiClient } from "../src/api/client.ts";
import { tokenTarget } from "../src/api/target.ts";
import { createOwnerResolver } from "../src/owners/resolver.ts";
import type { OwnerReference } from "../src/pods/record.ts";
import { until } from "./reflector-harness.ts";

const REPLICASETS = "/apis/apps/v1/namespaces/shop/replicasets";
const JOBS = "/apis/batch/v1/namespaces/shop/jobs";

function owner(kind: string, name: string, uid: string, apiVersion = "apps/v1"): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true };
}

function pod(...owners: OwnerReference[]) {
  return { namespace: "shop", owners };
}

async function world() {
  const api = await fakeApi();
  const client = createApiClient({ target: tokenTarget({ server: api.url }) });
  const stop = new AbortController();
  const changed: string[] = [];
  const waits: number[] = [];
  let time = 1000;
  const resolver = createOwnerResolver({
    client,
    clock: { now: () => time * 1000, monotonic: () => time },
    changed: (uid) => changed.push(uid),
    random: () => 1,
    sleep: (milliseconds, signal) => {
      waits.push(milliseconds);
      return new Promise((resolve) => {
        setTimeout(resolve, 2);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
  });
  const running = resolver.run(stop.signal);
  return {
    api,
    resolver,
    changed,
    waits,
    pass: (seconds: number) => {
      time += seconds;
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      client[Symbol.dispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

describe("owners", () => {
  test("one GET finds the Deployment of many pods", async () => {
    await using w = await world();
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "Deployment", name: "cart", uid: "d1", controller: true }];
    w.api.put(REPLICASETS, { metadata: { uid: "r1", name: "cart-67df", ownerReferences } });
    for (let index = 0; index < 50; index += 1) {
      expect(w.resolver.facts(pod(owner("ReplicaSet", "cart-67df", "r1"))).complete).toBe(false);
    }
    await until(() => w.changed.length === 1);
    expect(w.resolver.facts(pod(owner("ReplicaSet", "cart-67df", "r1")))).toMatchObject({
      resource: {
        "k8s.replicaset.name": "cart-67df",
        "k8s.replicaset.uid": "r1",
        "k8s.deployment.name": "cart",
        "k8s.deployment.uid": "d1",
      },
      complete: true,
      reason: null,
    });
    expect(w.api.requests.length).toBe(1);
    expect(w.api.requests[0]?.headers.accept).toBe("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    expect(w.changed).toEqual(["r1"]);
  });

  test("C25: a bare ReplicaSet named a-1 has no Deployment a", async () => {
    await using w = await world();
    w.api.put(REPLICASETS, { metadata: { uid: "r1", name: "a-1" } });
    w.resolver.facts(pod(owner("ReplicaSet", "a-1", "r1")));
    await until(() => w.changed.length === 1);
    const { resource, complete } = w.resolver.facts(pod(owner("ReplicaSet", "a-1", "r1")));
    expect(resource).toEqual({ "k8s.replicaset.name": "a-1", "k8s.replicaset.uid": "r1" });
    expect(complete).toBe(true);
  });

  test("a Job leads to its CronJob; others need no question", async () => {
    await using w = await world();
    const ownerReferences = [{ apiVersion: "batch/v1", kind: "CronJob", name: "nightly", uid: "c1", controller: true }];
    w.api.put(JOBS, { metadata: { uid: "j1", name: "nightly-1", ownerReferences } });
    w.resolver.facts(pod(owner("Job", "nightly-1", "j1", "batch/v1")));
    await until(() => w.changed.length === 1);
    expect(w.resolver.facts(pod(owner("Job", "nightly-1", "j1", "batch/v1"))).resource).toMatchObject({
      "k8s.job.name": "nightly-1",
      "k8s.cronjob.name": "nightly",
    });
    expect(w.resolver.facts(pod(owner("StatefulSet", "db", "s1")))).toMatchObject({
      resource: { "k8s.statefulset.name": "db", "k8s.statefulset.uid": "s1" },
      complete: true,
    });
    expect(w.resolver.facts(pod(owner("DaemonSet", "agent", "e1"))).resource["k8s.daemonset.name"]).toBe("agent");
    expect(w.resolver.facts(pod(owner("ReplicaSet", "x", "x1", "example.test/v1"))).resource).toEqual({});
    expect(w.resolver.facts(pod({ ...owner("ReplicaSet", "x", "x2"), controller: false })).resource).toEqual({});
    expect(w.resolver.facts(pod()).complete).toBe(true);
    expect(w.api.requests.length).toBe(1);
  });

  test("403 is unknown, for all of that kind, and is tried once per ten minutes", async () => {
    await using w = await world();
    w.api.fault = ({ path }) =>
      path.includes("replicasets") ? { status: 403, body: fakeStatus(403, "Forbidden", "no") } : undefined;
    w.api.put(JOBS, { metadata: { uid: "j1", name: "j" } });
    for (const name of ["a", "b", "c"]) w.resolver.facts(pod(owner("ReplicaSet", name, name)));
    w.resolver.facts(pod(owner("Job", "j", "j1", "batch/v1")));
    await until(() => w.changed.includes("j1"));
    expect(w.api.requests.length).toBe(2);
    const { complete, reason, resource } = w.resolver.facts(pod(owner("ReplicaSet", "a", "a")));
    expect([complete, resource]).toEqual([false, { "k8s.replicaset.name": "a", "k8s.replicaset.uid": "a" }]);
    expect(reason).toContain("get replicasets: 403");
    w.pass(601);
    await until(() => w.api.requests.length === 3);
    w.api.fault = null;
    // The third answer may still be on its way, and counts from when it arrives.
    await until(() => {
      w.pass(601);
      return w.changed.length === 4;
    });
  });

  test("404, and another object of the same name: nothing above can be known", async () => {
    await using w = await world();
    w.api.put(REPLICASETS, { metadata: { uid: "new", name: "twin" } });
    w.resolver.facts(pod(owner("ReplicaSet", "gone", "r1")));
    w.resolver.facts(pod(owner("ReplicaSet", "twin", "old")));
    await until(() => w.changed.length === 2);
    expect(w.resolver.facts(pod(owner("ReplicaSet", "gone", "r1"))).complete).toBe(true);
    expect(w.resolver.snapshot()).toEqual({ requests: 2, known: 2, pending: 0 });
  });

  test("errors are tried again with backoff, never more than five a second", async () => {
    await using w = await world();
    w.api.put(REPLICASETS, { metadata: { uid: "r1", name: "a" } });
    let left = 4;
    w.api.fault = () => {
      left -= 1;
      return left < 0 ? undefined : { status: 500 };
    };
    w.resolver.facts(pod(owner("ReplicaSet", "a", "r1")));
    await until(() => w.changed.length === 1);
    expect(w.waits.filter((wait) => wait < 60_000).slice(-5)).toEqual([200, 800, 1600, 3200, 200]);
  });

  test("a name that is a path is not asked for", async () => {
    await using w = await world();
    expect(
      w.resolver.facts(pod(owner("ReplicaSet", "../secrets/x", "r1"))).resource["k8s.deployment.name"],
    ).toBeUndefined();
    w.api.put(REPLICASETS, { metadata: { uid: "r2", name: "a" } });
    w.resolver.facts(pod(owner("ReplicaSet", "a", "r2")));
    await until(() => w.changed.includes("r2"));
    expect(w.api.requests.map(({ path }) => path)).toEqual([`${REPLICASETS}/a`]);
  });
});
