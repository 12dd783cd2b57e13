import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kubectl } from "@trawler/testbed";
import { expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { container, feature } from "../src/frames.ts";
import { idle, pod } from "../src/manifests.ts";
import { apply, getPod, node, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

onNode("kinds of pods", "e2e-kinds", (namespace) => {
  test("a static pod is joined to its mirror", async () => {
    const file = join(node().kubernetes.staticPods, "e2e-static.yaml");
    await writeFile(file, JSON.stringify(pod(namespace, "fixed", { labels: { app: "fixed" } })));
    try {
      await using agent = await Agent.start();
      const name = `${namespace}/fixed-${node().kubernetes.node}`;
      const frame = await agent.frames.next(name, "whole", ({ metadata }) => metadata.complete, 60_000);
      const mirror = await getPod(namespace, `fixed-${node().kubernetes.node}`);
      expect(frame.status).toMatchObject({ static: true, phase: "Running" });
      expect(frame.labels).toEqual({ app: "fixed" });
      // The runtime's UID of a static pod is its manifest's hash, which the mirror carries (docs/adr/0005).
      expect(frame.resource["k8s.pod.uid"]).toBe(mirror.metadata.annotations?.["kubernetes.io/config.hash"]);
      expect(frame.containers.map(({ state }) => state.status)).toEqual(["running"]);
      // One subject, not two: the runtime knows it by the hash of its manifest.
      const subjects = agent.frames.of(name).map(({ resource }) => resource["k8s.pod.uid"]);
      expect(new Set(subjects).size).toBe(1);
    } finally {
      await rm(file, { force: true });
      await waitFor(
        "the static pod to go",
        async () => {
          const { stdout } = await kubectl(["get", "pods", "-n", namespace, "-o", "name"]);
          return !stdout.includes("fixed");
        },
        60_000,
      );
    }
  });

  test("init, sidecar, app and ephemeral containers are told apart", async () => {
    await apply(
      pod(namespace, "typed", {
        containers: [{ name: "app" }],
        spec: {
          initContainers: [{ ...init("prepare", "exit 0") }, { ...init("helper", idle), restartPolicy: "Always" }],
        },
      }),
    );
    await podReady(namespace, "typed");
    await using agent = await Agent.start();
    const name = `${namespace}/typed`;
    const frame = await agent.frames.next(name, "whole", ({ metadata }) => metadata.complete);
    expect(Object.fromEntries(frame.containers.map((one) => [one.name, one.type]))).toEqual({
      app: "app",
      helper: "sidecar",
      prepare: "init",
    });
    expect(container(frame, "prepare").state).toMatchObject({ status: "terminated", exitCode: 0, reason: "Completed" });

    const { busyboxImage } = await import("@trawler/testbed");
    await kubectl([
      ...["debug", "-n", namespace, "typed", "--image", busyboxImage, "--image-pull-policy=Never", "-c", "probe"],
      ...["--target=app", "--", "/bin/sh", "-c", idle],
    ]);
    const debugged = await agent.frames.next(
      name,
      "with the ephemeral container running",
      ({ containers }) => containers.some((one) => one.name === "probe" && one.state.status === "running"),
      60_000,
    );
    expect(container(debugged, "probe").type).toBe("ephemeral");
    expect(debugged.reason).toMatch(/changed|interval/);
  });

  test("a hostNetwork pod has no network figures of its own, but a reason", async () => {
    await apply(pod(namespace, "host", { spec: { hostNetwork: true } }));
    await podReady(namespace, "host");
    await using agent = await Agent.start({ crawlers: { cpu: {}, network: {} } });
    const frame = await agent.frames.next(`${namespace}/host`, "whole", ({ metadata }) => metadata.complete);
    expect(frame.status?.hostNetwork).toBe(true);
    expect(feature(frame, "network")).toBeUndefined();
    expect(frame.problems).toContainEqual(expect.objectContaining({ crawler: "network", code: "unsupported" }));
  });

  test("a pod recreated under its name never mixes two UIDs", async () => {
    await apply(pod(namespace, "again", { labels: { round: "first" } }));
    const first = await podReady(namespace, "again");
    await using agent = await Agent.start({ every: "1s" });
    await agent.frames.next(first.metadata.uid, "whole", ({ metadata }) => metadata.complete);
    await kubectl(["delete", "pod", "-n", namespace, "again", "--grace-period=0", "--force"]);
    await apply(pod(namespace, "again", { labels: { round: "second" } }));
    const second = await podReady(namespace, "again");
    await agent.frames.next(second.metadata.uid, "whole", ({ metadata }) => metadata.complete);
    await agent.frames.next(first.metadata.uid, "the last one", ({ final }) => final);
    const ids = (uid: string) => new Set(agent.frames.of(uid).flatMap((one) => one.containers.map(({ id }) => id)));
    for (const frame of agent.frames.of(first.metadata.uid)) expect(frame.labels).toEqual({ round: "first" });
    for (const frame of agent.frames.of(second.metadata.uid)) {
      if (frame.metadata.groups.labels?.source === "api") expect(frame.labels).toEqual({ round: "second" });
    }
    const shared = Array.from(ids(first.metadata.uid)).filter((id) => ids(second.metadata.uid).has(id));
    expect(shared).toEqual([]);
    expect(agent.frames.of(first.metadata.uid).at(-1)?.final).toBe(true);
  });

  test("a label edit is on the next frame", async () => {
    await apply(pod(namespace, "edited", { labels: { tier: "silver" } }));
    await podReady(namespace, "edited");
    // The next slot is far away: what comes is the change.
    await using agent = await Agent.start({ every: "60s" });
    const name = `${namespace}/edited`;
    await agent.frames.next(name, "whole", ({ labels }) => labels["tier"] === "silver");
    await kubectl(["label", "pod", "-n", namespace, "edited", "tier=gold", "--overwrite"]);
    const frame = await agent.frames.next(
      name,
      "with the new label",
      ({ labels }) => labels["tier"] === "gold",
      15_000,
    );
    expect(frame.reason).toBe("changed");
    await kubectl(["label", "pod", "-n", namespace, "edited", "tier-"]);
    await agent.frames.next(
      name,
      "without it",
      ({ labels, sequence }) => sequence > frame.sequence && !("tier" in labels),
      15_000,
    );
  });
});

function init(name: string, script: string): object {
  return {
    name,
    image: "registry.example.test/busybox:1.35",
    imagePullPolicy: "Never",
    command: ["/bin/sh", "-c", script],
  };
}
