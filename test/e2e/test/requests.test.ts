import { readAudit } from "@trawler/testbed";
import { expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { deployment } from "../src/manifests.ts";
import { apply, node } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

const DEPLOYMENTS = 5;
const REPLICAS = 10;

onNode("requests to the API server, counted from its audit log", "e2e-requests", (namespace) => {
  test("50 pods of 5 Deployments: one list, one watch, one GET per owner; then quiet", async () => {
    const names = Array.from({ length: DEPLOYMENTS }, (_, index) => `shop-${index}`);
    // Two containers each: a pod's containers share one lookup.
    await apply(
      ...names.map((name) => deployment(namespace, name, REPLICAS, { containers: [{ name: "a" }, { name: "b" }] })),
    );
    const { kubectl } = await import("@trawler/testbed");
    await waitFor(
      "50 running pods",
      async () => {
        const { stdout } = await kubectl([
          "get",
          "pods",
          "-n",
          namespace,
          "--field-selector=status.phase=Running",
          "-o",
          "name",
        ]);
        return stdout.split("\n").filter(Boolean).length === DEPLOYMENTS * REPLICAS;
      },
      180_000,
    );

    const { auditLog, agentUser } = node().kubernetes;
    const since = new Date();
    await using agent = await Agent.start({ every: "5s", crawlers: { cpu: {}, memory: {} } });
    const owned = () =>
      new Set(
        agent.frames.all
          .filter(({ resource }) => resource["k8s.namespace.name"] === namespace && resource["k8s.deployment.name"])
          .map(({ resource }) => resource["k8s.pod.uid"]),
      );
    await waitFor("every pod's owner", () => owned().size === DEPLOYMENTS * REPLICAS, 60_000);

    const requests = () => readAudit(auditLog, { user: agentUser, since });
    const first = await requests();
    const count = (verb: string, resource: string) =>
      first.filter((request) => request.verb === verb && request.resource === resource).length;
    expect(count("list", "pods")).toBe(1);
    expect(count("watch", "pods")).toBe(1);
    const owners = first.filter(
      ({ verb, resource, uri }) => verb === "get" && resource === "replicasets" && uri.includes(namespace),
    );
    expect(new Set(owners.map(({ uri }) => uri)).size).toBe(DEPLOYMENTS);
    expect(owners).toHaveLength(DEPLOYMENTS);
    expect(first.filter(({ verb, resource }) => verb === "get" && resource === "pods")).toEqual([]);

    const minute = 60_000;
    await waitFor("the second minute to pass", () => Date.now() - since.getTime() > 2 * minute, 2 * minute + 5_000);
    const second = (await requests()).filter(({ time }) => {
      const age = time.getTime() - since.getTime();
      return age > minute && age <= 2 * minute;
    });
    expect(second.length).toBeLessThanOrEqual(20);
    expect(second.filter(({ verb }) => verb === "list")).toEqual([]);
    const denied = (await requests()).filter(({ status }) => status === 403);
    expect(denied).toEqual([]);
  }, 400_000);
});
