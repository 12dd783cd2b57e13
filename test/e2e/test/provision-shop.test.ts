import { fileURLToPath } from "node:url";
import { busyboxImage, kubectl, readAudit, redisImage } from "@trawler/testbed";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { Inventory } from "../src/inventory.ts";
import { deployment } from "../src/manifests.ts";
import { node } from "../src/node.ts";
import { type Done, Provisioner, states } from "../src/provision.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

const shop = fileURLToPath(new URL("../testdata/shop.yaml", import.meta.url));
const INVENTORY = "system:serviceaccount:trawler:trawler-inventory";

onNode("a shop: provisioned, crawled, and in the inventory", "e2e-shop", (namespace) => {
  let trawl: Provisioner;
  let agent: Agent;
  let inventory: Inventory;

  beforeAll(async () => {
    trawl = await Provisioner.open(namespace);
    inventory = await Inventory.prepare();
    await inventory.start();
    const environment = { include: { namespaces: [namespace] } };
    agent = await Agent.start({ every: "5s", environment, crawlers: { cpu: {}, memory: {} } });
  });

  afterAll(async () => {
    await Promise.all([
      inventory?.[Symbol.asyncDispose](),
      agent?.[Symbol.asyncDispose](),
      trawl?.[Symbol.asyncDispose](),
    ]);
  });

  const provision = (command: string, ...args: readonly string[]): Promise<Done> =>
    trawl.run(["provision", command, ...args, "--kubeconfig", node().kubernetes.kubeconfig]);
  const values = ["-p", `IMAGE=${busyboxImage}`, "-p", `CACHE_IMAGE=${redisImage}`];
  const place = ["-f", shop, "-n", namespace, ...values];
  const kept = () => ["--state", `${trawl.folder}/runs`, "-o", "json"];

  test("P9: the plan says what the server makes of each object, in waves, and creates nothing", async () => {
    const done = await provision("plan", ...place, "--server");
    expect([done.code, done.stderr]).toEqual([0, ""]);
    const rows = [...done.stdout.matchAll(/^ +(\d) +(\d) +\S+ +(\S+) +\S+ +(\S+) +accepted$/gm)];
    expect(rows.map(([, , wave, kind]) => `${wave} ${kind}`)).toEqual([
      ...["3 Deployment", "3 Deployment", "3 Job", "2 Service", "1 Secret", "1 ConfigMap"],
    ]);
    const { stdout } = await kubectl(["get", "deployments,jobs,services,secrets", "-n", namespace, "-o", "name"]);
    expect(stdout).toBe("");
  });

  test("until ready it ends SUCCEEDED; frames show its pods, and so does the inventory", async () => {
    const line = [...place, ...kept(), "--until", "ready", "--ready-timeout", "2m", "--inventory", inventory.state];
    const done = await provision("apply", ...line);
    expect([done.code, done.report.state], done.stderr).toEqual([0, "SUCCEEDED"]);
    expect(done.report.ready).toEqual({ ready: 6, total: 6, timedOut: false });
    expect(states(done)).toEqual([
      "Deployment shop-web: created",
      "Deployment shop-cache: created",
      "Job shop-prepare: created",
      "Service shop-cache: created",
      "Secret shop-session: created",
      "ConfigMap shop-settings: created",
    ]);
    const found = await kubectl(["get", "pods", "-n", namespace, "-o", "json"]);
    const { items: pods } = JSON.parse(found.stdout) as {
      readonly items: readonly { readonly metadata: { readonly uid: string; readonly name: string } }[];
    };
    expect(pods.map(({ metadata }) => metadata.name.split("-")[1]).toSorted()).toEqual([
      ...["cache", "prepare", "web", "web"],
    ]);
    for (const { metadata } of pods) {
      const { resource } = await agent.frames.next(metadata.uid, "with its name", (frame) =>
        String(frame.resource["k8s.pod.name"]).startsWith("shop-"),
      );
      expect(resource["k8s.namespace.name"]).toBe(namespace);
    }
    const uids = pods.map(({ metadata }) => metadata.uid).toSorted();
    await waitFor("the inventory to have the pods", async () => {
      const records = await inventory.everyPod(namespace);
      return JSON.stringify(records.map(({ uid }) => uid).toSorted()) === JSON.stringify(uids);
    });
    for (const name of ["shop-web", "shop-cache"]) {
      const { uid } = done.report.objects.find((one) => one.name === name) ?? {};
      expect(await inventory.show(uid ?? "")).toMatchObject({ kind: "Deployment", name, namespace });
    }
    const retired = await provision("retire", done.report.instance, ...kept());
    expect([retired.code, retired.report.state, retired.report.leftovers]).toEqual([0, "RETIRED", []]);
    const left = await kubectl(["get", "deployments,jobs,pods,services,secrets", "-n", namespace, "-o", "name"]);
    expect(left.stdout).toBe("");
  });

  test("P23: until inventory, 20 objects are in it when the run ends, by one read of each and no list", async () => {
    const objects = Array.from({ length: 20 }, (_, at) => deployment(namespace, `d${at + 1}`, 0));
    const since = new Date();
    const done = await trawl.apply(objects, {}, "--until", "inventory", "--inventory", inventory.state);
    expect([done.code, done.report.ready]).toEqual([0, { ready: 20, total: 20, timedOut: false }]);
    const { records } = await inventory.query("--kind", "Deployment", "-n", namespace, "--limit", "100");
    const known = new Set(records.map(({ uid }) => uid));
    expect(done.report.objects.filter(({ uid }) => !known.has(uid ?? ""))).toEqual([]);
    const { auditLog } = node().kubernetes;
    const reads = async () => {
      const requests = await readAudit(auditLog, { user: INVENTORY, since });
      return requests.filter(({ verb, resource }) => verb === "list" && resource === "deployments");
    };
    await waitFor("the audit log to have each read", async () => (await reads()).length >= 20);
    const lists = (await reads()).filter(({ uri }) => !uri.includes("fieldSelector=metadata.name"));
    expect(lists).toEqual([]);
  });

  test("an inventory that is named and does not run is told before anything is created", async () => {
    const done = await trawl.apply([deployment(namespace, "none", 0)], {}, "--inventory", `${trawl.folder}/nowhere`);
    expect([done.code, done.stderr]).toEqual([2, expect.stringContaining("no inventory runs with this folder")]);
    const { stdout } = await kubectl([
      "get",
      "deployment",
      "none",
      "-n",
      namespace,
      "--ignore-not-found",
      "-o",
      "name",
    ]);
    expect(stdout).toBe("");
  });
});
