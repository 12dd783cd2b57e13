import { expect, test } from "vitest";
import { bench, known, lists, PODS, pod, until } from "./collector-harness.ts";

test("B54: each cluster has its own position, queue and store; one that is dead slows no other", async () => {
  await using one = await bench((api) => api.put(PODS, pod("a")));
  await using two = await bench((api) => {
    api.resourceVersion = 90_000n;
    api.put(PODS, pod("b"));
  });
  const [first, second] = [await one.start({ cluster: "one" }), await two.start({ cluster: "two" })];
  await until("both", () => one.api.openWatches === 1 && two.api.openWatches === 1);
  // One server has gone.
  await one.api.stop();
  await until("the dead one to be away", () => first.collector.status().unready !== null);
  for (let index = 0; index < 50; index += 1) two.api.put(PODS, pod(`p${index}`));
  await until("the other's", () => known(second.collector).length === 51);
  await until("the other to be in step", () => {
    const { unready, depth } = second.collector.status();
    return unready === null && depth === 0;
  });
  expect(lists(two.api)).toBe(1);
  expect(first.collector.status().unready).not.toBeNull();
  expect(known(first.collector)).toEqual(["a live"]);
  expect(first.collector.store.position("pods")?.resourceVersion).toBe("101");
  expect(second.collector.store.position("pods")?.resourceVersion).toBe("90051");
  // The folder of one is no folder for the other.
  await first.stop();
  await expect(one.start({ cluster: "two" })).rejects.toMatchObject({ code: "TRAWLER_REFUSED" });
});
