import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Frame } from "@trawler/plugin-api";
import { kubectl, startComponent, stopComponent } from "@trawler/testbed";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AgentPod, buildImage, nameOf, nodeRoot, PATIENCE, pidOf, Release } from "../src/daemonset.ts";
import { deployment } from "../src/manifests.ts";
import { apply } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

const PODS = 12;
const CRAWLS = 10_000;
/** Descriptors that come and go with connections. */
const SLACK = 8;

const orElse = <T>(read: () => T, otherwise: T): T => {
  try {
    return read();
  } catch {
    return otherwise;
  }
};

/** What a process holds open, and which of it are namespaces. */
function heldBy(pid: number): { readonly descriptors: number; readonly namespaces: number; readonly mounts: number } {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => orElse(() => readlinkSync(`/proc/${pid}/fd/${fd}`), ""));
  return {
    descriptors: links.length,
    namespaces: links.filter((link) => /^(net|mnt|pid|user|ipc|uts):\[/.test(link)).length,
    mounts: readFileSync(`/proc/${pid}/mountinfo`, "utf8").trimEnd().split("\n").length,
  };
}

/** Ended processes that a runtime's shim has not taken leave of. */
function zombiesOfShims(): string[] {
  const stat = (pid: string): string => orElse(() => readFileSync(`/proc/${pid}/stat`, "utf8"), "");
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(stat)
    .filter((text) => {
      const [state, parent = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ");
      return state === "Z" && stat(parent).includes("(containerd-shim");
    });
}

const isGone = (pid: number): boolean =>
  orElse(() => !readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("trawl"), true);

onNode("The life of a DaemonSet's pod", "e2e-daemonset-life", (namespace) => {
  let release: Release;
  const crawlers = Object.fromEntries(
    ["cpu", "memory", "blockio", "network", "process", "connection", "os"].map((name) => [name, {}]),
  );
  const values = (): Record<string, unknown> => ({
    tier: "files",
    every: "1s",
    crawlers,
    config: {
      host: { root: nodeRoot() },
      // What else runs on the node comes and goes.
      pipelines: { default: { environment: { kubernetes: { include: { namespaces: [namespace] } } } } },
    },
  });

  beforeAll(async () => {
    await buildImage();
    const containers = ["a", "b", "c"].map((name) => ({ name }));
    await apply(deployment(namespace, "steady", PODS, { containers }));
    release = await Release.install(namespace, values());
  }, 300_000);
  afterAll(() => release?.[Symbol.asyncDispose]());

  // By name: a frame that could not wait for the API server has no owner yet.
  const steady = (frame: Frame): boolean => nameOf(frame).startsWith(`${namespace}/steady-`);
  const instances = (): ReadonlySet<string> => new Set(release.read().map(({ agent }) => agent.instance));

  /** Waits until an agent that is none of those before writes each pod's frames, at start and in its slots. */
  const resumed = async (before: ReadonlySet<string>): Promise<void> => {
    await waitFor(
      "each pod's frames to go on",
      () => {
        const fresh = release.read().filter((frame) => steady(frame) && !before.has(frame.agent.instance));
        const ofReason = (reason: string) => new Set(fresh.filter((frame) => frame.reason === reason).map(nameOf)).size;
        return ofReason("started") === PODS && ofReason("interval") === PODS;
      },
      PATIENCE,
    );
  };

  /** Ends the agent in some way, and waits until another one has taken over. */
  const replaced = async (end: (agent: AgentPod) => Promise<unknown>): Promise<AgentPod> => {
    const old = await release.ready();
    const pid = await pidOf(old);
    const before = instances();
    await end(old);
    const fresh = await release.ready(old);
    await waitFor("the old agent to be gone", () => isGone(pid));
    await resumed(before);
    return fresh;
  };

  test("after 10,000 crawls it holds no more descriptors, namespaces and mounts than before", async () => {
    await resumed(new Set());
    const agent = await release.ready();
    const pid = await pidOf(agent);
    const crawls = async (): Promise<number> => {
      const text = await (await fetch(`http://${agent.ip}:9467/metrics`)).text();
      const counts = [...text.matchAll(/^trawler_crawl_duration_seconds_count\{.*\} (\d+)$/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = heldBy(pid);
    const goal = (await crawls()) + CRAWLS;
    await waitFor(`${CRAWLS} crawls`, async () => (await crawls()) >= goal, 150_000);
    await waitFor("descriptors as before", () => heldBy(pid).descriptors <= before.descriptors + SLACK, PATIENCE);
    const after = heldBy(pid);
    expect(after.mounts).toBe(before.mounts);
    expect(after.namespaces).toBeLessThanOrEqual(before.namespaces);
  });

  test("pods that have gone leave nothing in it", async () => {
    const pid = await pidOf(await release.ready());
    const before = heldBy(pid);
    await kubectl(["scale", "deployment/steady", "-n", namespace, `--replicas=${PODS / 2}`]);
    try {
      const final = () => release.read().filter((frame) => steady(frame) && frame.final);
      const half = () => new Set(final().map(nameOf)).size >= PODS / 2;
      await waitFor("half of the pods' final frames", half, PATIENCE);
      await waitFor("descriptors to be given back", () => heldBy(pid).descriptors < before.descriptors, PATIENCE);
      expect(heldBy(pid).mounts).toBe(before.mounts);
    } finally {
      await kubectl(["scale", "deployment/steady", "-n", namespace, `--replicas=${PODS}`]);
    }
    await kubectl(["rollout", "status", "deployment/steady", "-n", namespace]);
  });

  test("killed, it is started again in its pod, and takes over the state that the killed one left", async () => {
    const fresh = await replaced(async (agent) => process.kill(await pidOf(agent), "SIGKILL"));
    expect(fresh.restarts).toBe(1);
  });

  test("evicted, it writes what it has and another pod takes over", async () => {
    const fresh = await replaced(async ({ name }) => {
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
      const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
      await kubectl(["create", "--raw", path, "-f", "-"], JSON.stringify(eviction));
    });
    expect(fresh.restarts).toBe(0);
  });

  test("a rolling upgrade replaces it", async () => {
    const old = await release.ready();
    const fresh = await replaced(() =>
      release.upgrade({ ...values(), podAnnotations: { "example.test/change": "1" } }),
    );
    expect(fresh.uid).not.toBe(old.uid);
  });

  test("while the kubelet is away and after it is back the same agent writes on", async () => {
    const agent = await release.ready();
    const pid = await pidOf(agent);
    const [instance] = release
      .read()
      .slice(-1)
      .map((frame) => frame.agent.instance);
    const goesOn = async (what: string): Promise<void> => {
      const after = release.read().length;
      await waitFor(
        `a new frame of each pod ${what}`,
        () => {
          const fresh = release
            .read()
            .slice(after)
            .filter((frame) => steady(frame) && frame.agent.instance === instance);
          return new Set(fresh.map(nameOf)).size === PODS;
        },
        PATIENCE,
      );
    };
    await stopComponent("kubelet");
    try {
      await goesOn("without the kubelet");
    } finally {
      await startComponent("kubelet");
    }
    await goesOn("after the kubelet's start");
    expect(await pidOf(await release.ready())).toBe(pid);
    expect((await release.ready()).restarts).toBe(agent.restarts);
  });

  test("no agent numbered two frames of a pod alike or left one out, and no process waits to be buried", async () => {
    const numbers = new Map<string, number[]>();
    // At least once: one frame may be written twice, under its one id.
    const frames = new Map(release.read().map((frame) => [frame.id, frame]));
    for (const frame of frames.values()) {
      const key = `${frame.agent.instance} ${String(frame.resource["k8s.pod.uid"])}`;
      numbers.set(key, [...(numbers.get(key) ?? []), frame.sequence]);
    }
    expect(instances().size).toBe(4);
    for (const [key, found] of numbers) {
      // One partition holds all of a pod: its frames are read in the order in which they were written.
      const first = Math.min(...found);
      expect(found, key).toEqual(found.map((_, index) => first + index));
      expect(first, key).toBeLessThanOrEqual(1);
    }
    await waitFor("no zombie of a container", () => zombiesOfShims().length === 0);
  });
});
