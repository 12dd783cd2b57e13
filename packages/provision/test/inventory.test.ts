import { TrawlerError } from "@trawler/plugin-api";
import { expect, test } from "vitest";
import type { Inventory } from "../src/wait/types.ts";
import { configMap, Running, templateOf } from "./running.ts";

const objects = [configMap("a"), configMap("b"), { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }];

/** Follows ConfigMaps, and sees what the cluster has. */
function inventoryOf(running: Running, refresh?: Inventory["refresh"]): Inventory & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    follows: ({ plural }: { readonly plural: string }) => plural === "configmaps",
    refresh: async (target: Parameters<Inventory["refresh"]>[0], signal: AbortSignal) => {
      asked.push(`${target.kind} ${target.namespace}/${target.name}`);
      if (refresh !== undefined) return refresh(target, signal);
      const found = running.fake.objects.get(`${target.namespace}/${target.name}`) ?? {};
      return String(JSON.parse(JSON.stringify(found)).metadata.uid);
    },
  };
}

test("P23: until inventory, each object is handed over once by name; kinds that it does not follow are seen by one GET", async () => {
  await using running = await Running.open();
  const inventory = inventoryOf(running);
  const instance = await running.begin(templateOf(objects), { until: "inventory" });
  const before = running.fake.reads.length;
  const report = await running.work(instance, { inventory });
  expect([report.state, report.ready]).toEqual(["SUCCEEDED", { ready: 3, total: 3, timedOut: false }]);
  expect(inventory.asked.toSorted()).toEqual(["ConfigMap shop/a", "ConfigMap shop/b"]);
  expect(running.fake.reads.slice(before)).toEqual(["/api/v1/namespaces/shop/secrets/s"]);
});

test("P23: an inventory that does not have it yet is asked again; one that has ended is replaced by single GETs", async () => {
  await using running = await Running.open();
  let answers = 0;
  const late = inventoryOf(running, async ({ namespace, name }) => {
    if (++answers <= 2) return answers === 1 ? null : "uid-of-another";
    return String(JSON.parse(JSON.stringify(running.fake.objects.get(`${namespace}/${name}`))).metadata.uid);
  });
  const first = await running.begin(templateOf([configMap("a")]), { until: "inventory" });
  expect((await running.work(first, { inventory: late })).state).toBe("SUCCEEDED");
  expect(late.asked).toHaveLength(3);
  const ended = inventoryOf(running, () =>
    Promise.reject(new TrawlerError("TRAWLER_UNAVAILABLE", "it does not run any more")),
  );
  const second = await running.begin(templateOf([configMap("b")]), { until: "inventory" });
  expect((await running.work(second, { inventory: ended })).state).toBe("SUCCEEDED");
});

test("P23: an inventory that never sees it: the goal is not reached, what was made stays", async () => {
  await using running = await Running.open();
  const blind = inventoryOf(running, async () => null);
  const instance = await running.begin(templateOf([configMap("a")]), { until: "inventory", readyTimeout: 300 });
  const report = await running.work(instance, { inventory: blind });
  expect([report.state, report.ready]).toEqual(["PARTIAL", { ready: 0, total: 1, timedOut: true }]);
  expect(report.headline).toContain("the inventory does not have it yet");
});

test("an inventory that never answers holds up no run: what is cancelled ends, and was created", async () => {
  await using running = await Running.open();
  const cancel = new AbortController();
  const silent = inventoryOf(running, () => {
    cancel.abort();
    return new Promise(() => {});
  });
  const instance = await running.begin(templateOf([configMap("a")]));
  const report = await running.work(instance, { inventory: silent, cancel: cancel.signal });
  expect([report.state, report.objects[0]?.status]).toEqual(["SUCCEEDED", "created"]);
});

test("what is only to be created is handed over too; an inventory that refuses fails nothing", async () => {
  await using running = await Running.open();
  const inventory = inventoryOf(running);
  const first = await running.begin(templateOf([configMap("a")]));
  expect((await running.work(first, { inventory })).state).toBe("SUCCEEDED");
  expect(inventory.asked).toEqual(["ConfigMap shop/a"]);
  const broken = inventoryOf(running, () => Promise.reject(new Error("its disk is full")));
  const second = await running.begin(templateOf([configMap("b")]));
  expect((await running.work(second, { inventory: broken })).state).toBe("SUCCEEDED");
  using journal = running.folder.open(second, true);
  expect(journal.log.map(({ text }) => text).join("\n")).toContain("not handed to the inventory: its disk is full");
});
