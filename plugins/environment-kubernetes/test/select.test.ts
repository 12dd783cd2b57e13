import type { Container, Workload } from "@trawler/plugin-api";
import { fakeContainer, fakeWorkload } from "@trawler/testkit";
import { describe, expect, it } from "vitest";
import { config } from "../src/config.ts";
import { selector } from "../src/select.ts";

const containers: Container[] = [
  { ...fakeContainer({ name: "redis" }), image: "shop/redis:7" },
  { ...fakeContainer({ name: "pause" }), image: "shop/pause-menu:1" },
];
const pod: Workload = {
  ...fakeWorkload({ id: "a" }),
  containers,
  resource: { "k8s.namespace.name": "shop" },
  labels: { app: "cart", tier: "gold" },
  annotations: { team: "data" },
};

/** Names of the containers that are left, or null. */
function select(settings: object, workload: Workload = pod): readonly string[] | null {
  return selector(config.parse(settings))(workload)?.containers.map(({ name }) => name) ?? null;
}

const all = ["redis", "pause"];

describe("what the configuration wants", () => {
  it.each([
    ["nothing", {}, all],
    ["its namespace", { include: { namespaces: ["shop"] } }, all],
    ["its namespace by glob", { include: { namespaces: ["sh*"] } }, all],
    ["another namespace", { include: { namespaces: ["bank"] } }, null],
    ["not its namespace", { exclude: { namespaces: ["shop"] } }, null],
    ["its labels", { include: { labels: { app: "cart", tier: "*" } } }, all],
    ["a label that it lacks", { include: { labels: { app: "cart", zone: "*" } } }, null],
    ["not one of its labels", { exclude: { labels: { zone: "*", tier: "gold" } } }, null],
    ["its annotation", { include: { annotations: { team: "d?ta" } } }, all],
    ["not its annotation", { exclude: { annotations: { team: "data" } } }, null],
    ["one container", { include: { containers: ["red*"] } }, ["redis"]],
    ["not one container", { exclude: { containers: ["redis"] } }, ["pause"]],
    ["an image to be a sandbox", { sandboxImages: ["shop/pause-menu:1"] }, ["redis"]],
    ["an image like it to be a sandbox", { sandboxImages: ["shop/pause-menu"] }, all],
  ])("%s: %j", (_what, settings, left) => {
    expect(select(settings)).toEqual(left);
  });

  it("C52: an image or a container that is called pause is a member by default", () => {
    expect(select({})).toContain("pause");
  });

  it("leaves a pod that opts itself out to the host, which can say why", () => {
    expect(select({}, { ...pod, annotations: { "trawler.dev/crawl": "false" } })).toEqual(all);
  });

  it.each([
    [{ discovery: "docker" }, /discovery/],
    [{ sockets: ["run/x.sock"] }, /socket/],
    [{ kubeconfig: "relative" }, /absolute/],
    [{ include: { pods: [] } }, /pods/],
  ])("refuses %j", (settings, message) => {
    expect(() => config.parse(settings)).toThrow(message);
  });
});
