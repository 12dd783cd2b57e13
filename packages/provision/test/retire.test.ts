import { expect, test } from "vitest";
import { Context } from "../src/instance/context.ts";
import { retire } from "../src/retire/retire.ts";
import { clock, configMap, Running, statesOf, templateOf } from "./running.ts";

test("R15: retiring removes what the journal says; what has only the label, or only the journal, is told", async () => {
  await using running = await Running.open();
  const { fake, cluster } = running;
  const instance = await running.begin(templateOf([configMap("a"), configMap("b")]));
  expect((await running.work(instance)).state).toBe("SUCCEEDED");
  const labels = { "trawler.dev/instance": instance };
  const stray = { name: "stray", namespace: "shop", uid: "uid-stray", labels };
  fake.objects.set("shop/stray", { kind: "ConfigMap", metadata: stray });
  fake.objects.delete("shop/b");
  using journal = running.folder.open(instance);
  const { signal } = new AbortController();
  const report = await retire(new Context({ cluster, journal, clock, cancel: signal }), signal);
  expect([report.state, statesOf(report)]).toEqual(["RETIRED", ["a: rolledBack", "b: rolledBack"]]);
  expect(report.warnings).toEqual([
    "ConfigMap stray has the label of this run and is not in its journal: left alone",
    "ConfigMap shop/b is in the journal of this run and its label does not find it",
  ]);
  expect([...fake.objects.keys()]).toEqual(["shop/stray"]);
});
