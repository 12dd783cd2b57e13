import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { Frame } from "@trawler/plugin-api";
import { pauseMenuImage, sandboxImage } from "@trawler/testbed";
import { expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { TopicReader } from "../src/kafka.ts";
import { deployment, idle, pod } from "../src/manifests.ts";
import { apply, node, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { frameValidator } from "../src/validate.ts";
import { waitFor } from "../src/wait.ts";

const EVERY = 5;
const SLOTS = 12;
const shell = expect.objectContaining({ commandLine: ["/bin/sh", "-c", idle] });
const isOfMany = ({ resource }: Frame): boolean => String(resource["k8s.pod.name"]).startsWith("many-");

onNode("frames in slots", "e2e-slots", (namespace) => {
  test("parity W7, B5: 20 pods, every 5 s, for a minute: one interval frame per pod and slot, valid, keyed by UID, without gaps", async () => {
    await apply(
      deployment(namespace, "many", 19, { containers: [{ name: "one" }, { name: "two" }] }),
      // A user's image and container that look like a sandbox and are none.
      pod(namespace, "menu", { containers: [{ name: "pause", image: pauseMenuImage, command: ["/pause"] }] }),
    );
    await waitFor("20 running pods", async () => (await runningPods(namespace)).length === 20, 120_000);

    const topic = `frames-${randomUUID()}`;
    const kafka = { brokers: node().kafka.brokers, topic, createTopic: true };
    await using agent = await Agent.start({ every: `${EVERY}s`, emitters: { kafka } });
    const mine = () => agent.frames.all.filter((frame) => frame.resource["k8s.namespace.name"] === namespace);
    const intervals = () => mine().filter(({ reason }) => reason === "interval");
    await waitFor("a minute of slots", () => intervals().length >= 20 * SLOTS, 120_000);
    expect(await agent.stop()).toBe(0);

    const pods = await runningPods(namespace);
    for (const { uid } of pods) {
      const frames = agent.frames.of(uid);
      const slots = frames.filter(({ reason }) => reason === "interval").map(({ time }) => Date.parse(time));
      expect(slots.length).toBeGreaterThanOrEqual(SLOTS - 1);
      for (const [index, time] of slots.entries()) {
        const before = slots[index - 1];
        // One frame per slot: two of them are one interval apart, give or take the crawl of the others.
        if (before !== undefined) expect(Math.round((time - before) / 1_000 / EVERY)).toBe(1);
      }
      expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index + 1));
      expect(frames.filter(({ reason }) => reason === "started")).toHaveLength(1);
    }

    const validate = frameValidator();
    for (const frame of mine()) expect(validate(frame), JSON.stringify(frame)).toEqual([]);
    const images = mine().flatMap(({ containers }) => containers.map(({ image }) => image));
    expect(images).not.toContain(sandboxImage);
    expect(new Set(mine().map(({ resource }) => resource["k8s.pod.uid"]))).toEqual(new Set(pods.map(({ uid }) => uid)));

    await using reader = await TopicReader.open(topic);
    const expected = mine().map(({ id }) => id);
    await waitFor("the same frames in Kafka", () => {
      const seen = new Set(reader.records.map(({ headers }) => headers["trawler-frame-id"]));
      return expected.every((id) => seen.has(id));
    });
    const told = reader.records.map(({ key, value }) => ({ key, frame: JSON.parse(value) as Frame }));
    for (const { key, frame } of told) expect(key).toBe(frame.resource["k8s.pod.uid"]);
    for (const { frame } of told.filter(({ frame }) => frame.reason === "interval" && isOfMany(frame))) {
      const runs = { features: expect.arrayContaining([expect.objectContaining({ type: "process", value: shell })]) };
      expect(frame.containers, frame.id).toMatchObject([runs, runs]);
    }
  });

  test("a user's image pause-menu and a container named pause are members", async () => {
    await podReady(namespace, "menu");
    await using agent = await Agent.start();
    const frame = await agent.frames.next(
      `${namespace}/menu`,
      "with its container",
      ({ containers }) => containers.length > 0,
    );
    expect(frame.containers.map(({ name, image }) => ({ name, image }))).toEqual([
      { name: "pause", image: pauseMenuImage },
    ]);
  });

  test("the agent leaves no descriptor behind from crawl to crawl", async () => {
    await using agent = await Agent.start({ every: "1s" });
    const counts: number[] = [];
    // Descriptors are kept for what runs, so the number settles once every pod is crawled; a leak grows in every window.
    await waitFor(
      `${SLOTS} slots without one more descriptor`,
      async () => {
        const slot = agent.frames.of(`${namespace}/menu`).length;
        counts[slot] ??= (await readdir(`/proc/${agent.pid}/fd`)).length;
        const before = counts[slot - SLOTS];
        return before !== undefined && counts[slot] <= before;
      },
      90_000,
    );
    expect(await readFile(`/proc/${agent.pid}/comm`, "utf8")).toBeTruthy();
  });
});

async function runningPods(namespace: string): Promise<{ uid: string; name: string }[]> {
  const { kubectl } = await import("@trawler/testbed");
  const { stdout } = await kubectl(["get", "pods", "-n", namespace, "-o", "json"]);
  const list = JSON.parse(stdout) as {
    items: { metadata: { uid: string; name: string }; status: { phase: string } }[];
  };
  return list.items.filter(({ status }) => status.phase === "Running").map(({ metadata }) => metadata);
}
