import { fakeContext, fakeWorkload, scriptedEnvironment } from "@trawler/testkit";
import { expect, test } from "vitest";
import { withAttributes } from "../src/attributes.ts";

test("fixed attributes are on each workload, and what the environment knows wins", async () => {
  const environment = scriptedEnvironment();
  const workload = fakeWorkload({ resource: { "k8s.pod.name": "cart-0" } });
  environment.push({ type: "added", workload }, { type: "synced" });
  const fixed = withAttributes(environment, { "deployment.environment.name": "test", "k8s.pod.name": "forged" });
  const seen = [];
  for await (const event of fixed.instance.discover(fakeContext())) {
    seen.push(event);
    if (event.type === "synced") break;
  }
  expect(seen).toEqual([
    {
      type: "added",
      workload: { ...workload, resource: { "deployment.environment.name": "test", "k8s.pod.name": "cart-0" } },
    },
    { type: "synced" },
  ]);
});

test("without attributes the environment is as it was", () => {
  const environment = scriptedEnvironment();
  expect(withAttributes(environment, {})).toBe(environment);
});
