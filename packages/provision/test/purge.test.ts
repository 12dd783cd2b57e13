import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newInstance } from "../src/journal/instance.ts";
import { holdsNothing, purge } from "../src/journal/purge.ts";
import type { ItemStatus, RunState } from "../src/journal/record.ts";
import { ServiceStore } from "../src/serve/store.ts";
import { configMap, Running, templateOf } from "./running.ts";
import { Serving, until } from "./serving.ts";

const LATER = Date.now() + 3_600_000;
const purged = (running: Running, options: Partial<Parameters<typeof purge>[1]> = {}): readonly string[] =>
  [...purge(running.folder, { before: LATER, ...options })].flatMap((step) => (step.purged ? [step.instance] : []));

test.each<[RunState, ItemStatus, boolean]>([
  ["FAILED", "rolledBack", true],
  ["FAILED", "failed", true],
  ["RETIRED", "replaced", true],
  ["SUCCEEDED", "existing", true],
  ["SUCCEEDED", "created", false],
  ["PARTIAL", "rollbackFailed", false],
  ["PARTIAL", "rolledBack", false],
  ["FAILED", "unknown", false],
  ["RETIRED", "kept", false],
  ["CREATING", "planned", false],
  ["ROLLING_BACK", "rolledBack", false],
])("a run that is %s with an object that is %s may be forgotten: %s", async (state, status, may) => {
  await using running = await Running.open();
  const instance = await running.begin(templateOf([configMap("a")]));
  using journal = running.folder.open(instance);
  expect(holdsNothing({ ...journal.run, state }, [{ status }])).toBe(may);
  const [item] = journal.items;
  const leftovers = [
    { ...{ apiVersion: "v1", kind: "Pod", namespace: "shop", name: "p", uid: "u" }, why: "", command: "" },
  ];
  expect(holdsNothing({ ...journal.run, state, leftovers }, item === undefined ? [] : [{ ...item, status }])).toBe(
    false,
  );
});

test("forgotten is what is over, old and holds nothing, with all of its files; a run at work, a young one and one with objects stay", async () => {
  await using running = await Running.open();
  const { fake, folder } = running;
  const begin = (name: string) => running.begin(templateOf([configMap(name)]));
  const made = await begin("made");
  await running.work(made);
  fake.refuse = () => 422;
  const failed = await begin("failed");
  await running.work(failed);
  const busy = await begin("busy");
  await running.work(busy);
  const waiting = await begin("waiting");
  using lock = folder.lock(busy);
  expect(lock).not.toBeNull();
  expect(purged(running, { before: Date.now() - 60_000 })).toEqual([]);
  expect(purged(running, { dryRun: true })).toEqual([failed]);
  expect(purged(running, { busy: (instance) => instance === failed })).toEqual([]);
  expect(folder.instances()).toHaveLength(4);
  expect(purged(running)).toEqual([failed]);
  expect(folder.instances().toSorted()).toEqual([made, busy, waiting].toSorted());
  expect(readdirSync(folder.path).filter((name) => name.startsWith(failed))).toEqual([]);
  expect(existsSync(join(folder.path, `${waiting}.key`))).toBe(true);
});

test("a step is bounded and the next one goes on behind it; a removal that was cut off is ended, a beginning is not", async () => {
  await using running = await Running.open();
  const { fake, folder } = running;
  fake.refuse = () => 422;
  const instances: string[] = [];
  for (const name of ["a", "b", "c"]) {
    const instance = await running.begin(templateOf([configMap(name)]));
    await running.work(instance);
    instances.push(instance);
  }
  instances.sort();
  const [first = "", second = "", third = ""] = instances;
  rmSync(join(folder.path, `${first}.journal`));
  const beginning = newInstance(LATER + 1);
  for (const instance of [first, beginning]) writeFileSync(join(folder.path, `${instance}.key`), "");
  expect(purged(running, { limit: 1, before: Date.now() + 60_000 })).toEqual([second]);
  expect(readdirSync(folder.path).filter((name) => name.startsWith(first))).toEqual([]);
  expect(existsSync(join(folder.path, `${beginning}.key`))).toBe(true);
  expect(purged(running, { after: second })).toEqual([third]);
});

test("a service forgets by itself: runs that hold nothing, and what was given up; it goes on over a file that is no journal", async () => {
  await using serving = await Serving.open();
  serving.cluster.refuse = (name) => (name === "bad" ? 422 : undefined);
  const create = async (name: string): Promise<unknown> => {
    const template = { source: JSON.stringify({ apiVersion: "v1", kind: "Template", objects: [configMap(name)] }) };
    return (await serving.request("POST", "/v1/instances", { template, namespace: "shop" })).body["instance"];
  };
  const [good, bad] = [await create("good"), await create("bad")];
  const list = async (): Promise<unknown> => {
    const { instances } = (await serving.request("GET", "/v1/instances")).body;
    return Array.isArray(instances) ? instances.map(({ instance, state }) => `${instance} ${state}`).toSorted() : [];
  };
  await until(
    async () => JSON.stringify(await list()) === JSON.stringify([`${good} SUCCEEDED`, `${bad} FAILED`].toSorted()),
  );
  await serving.stop();
  const runs = join(serving.folder, "runs");
  writeFileSync(join(runs, `${newInstance(1)}.journal`), "no journal");
  using store = new ServiceStore(runs);
  store.endTask("x", [{ target: "log", id: "n", instance: "x", body: "{}" }], 0);
  store.giveUp("n", "log");
  await serving.start({
    retention: { keep: -60_000, every: 20 },
    notifiers: [{ name: "log", send: async () => ({ ok: true }) }],
  });
  await until(async () => JSON.stringify(await list()) === JSON.stringify([`${good} SUCCEEDED`]));
  await until(() => store.outbox.givenUp === 0);
  expect((await serving.request("GET", `/v1/instances/${bad}`)).status).toBe(404);
  expect(serving.lines.join()).toContain('"runs":1');
});
