import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Frame } from "@trawler/plugin-api";
import { componentPid, kubectl, startComponent, stopComponent } from "@trawler/testbed";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../src/agent.ts";
import { makeTopic, TopicReader } from "../src/kafka.ts";
import { pod } from "../src/manifests.ts";
import { apply, node, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { frameValidator } from "../src/validate.ts";
import { waitFor } from "../src/wait.ts";

const EVERY = 1;
const broker = "kafka-1";
/** Intervals of an outage. */
const outage = 3;
/** Seconds for which the agent is stopped. */
const frozen = process.env["TRAWLER_SLOW"] === "1" ? 40 : 10;
/** Resident memory that the agent stays under whatever waits, bytes. */
const MEMORY = 300 * 2 ** 20;

onNode("delivery to Kafka", "e2e-delivery", (namespace) => {
  const names = ["one", "two", "three"].map((name) => `${namespace}/${name}`);
  let topic = "";

  beforeAll(async () => {
    await apply(...["one", "two", "three"].map((name) => pod(namespace, name, { labels: { app: name } })));
    for (const name of ["one", "two", "three"]) await podReady(namespace, name);
  });
  beforeEach(() => {
    topic = `delivery-${randomUUID()}`;
  });
  // A test that fails in the middle of an outage must not take the others with it.
  afterEach(async () => {
    const pid = componentPid(broker);
    if (pid !== undefined) process.kill(pid, "SIGCONT");
    await startComponent(broker);
  });

  /** Frames go to standard output and to Kafka: what the one has shows what the other must have. */
  const start = (kafka: object = {}, options: AgentOptions = {}) =>
    Agent.start({
      every: `${EVERY}s`,
      crawlers: { cpu: {}, memory: {} },
      emitters: {
        kafka: { brokers: node().kafka.brokers, topic, createTopic: true, requestTimeout: "2s", ...kafka },
      },
      ...options,
    });

  const applyWide = async () => {
    const script = "for i in $(seq 60); do sleep 3600 & done; trap 'kill $(jobs -p); exit 0' TERM; wait";
    const containers = ["left", "right"].map((name) => ({ name, script }));
    await apply(pod(namespace, "wide", { annotations: { note: "n".repeat(1000) }, containers }));
    await podReady(namespace, "wide");
  };

  test("C118: broker down at start: the crawl goes on in its bound, losses are counted, the rest flows after", async () => {
    await apply(pod(namespace, "leaves"));
    await podReady(namespace, "leaves");
    await stopComponent(broker);
    await using agent = await start({}, { pipeline: { queue: { frames: 30 } } });
    await agent.frames.next(`${namespace}/leaves`, "started", ({ reason }) => reason === "started");
    await kubectl(["delete", "pod", "-n", namespace, "leaves", "--wait=false"]);
    await agent.frames.next(`${namespace}/leaves`, "ended", ({ final }) => final);
    await waitFor("frames to be dropped", async () => (await counted(agent, "overflow")) >= 20, 60_000);
    expect(await agent.memory()).toBeLessThan(MEMORY);
    expect(agent.log.filter((line) => line.includes("the queue of emitter kafka is full"))).toHaveLength(1);

    await startComponent(broker);
    await waitFor("frames to flow", async () => (await gauge(agent, "queue_frames", "kafka")) === 0, 90_000);
    const overflow = await counted(agent, "overflow");
    expect(await agent.stop()).toBe(0);
    await using reader = await TopicReader.open(topic);
    const lost = await missing(agent, reader, overflow);
    // The bound took interval frames alone: what began and what ended is there.
    expect(lost.map(({ reason }) => reason)).toEqual(Array(overflow).fill("interval"));
    expect(frames(reader).some(({ final, resource }) => final && resource["k8s.pod.name"] === "leaves")).toBe(true);
    // The broker's absence slowed nobody: no slot of standard output is missing.
    for (const name of names) expectGapless(agent.frames.of(name));
  });

  test("C120: broker stopped in the middle for three intervals: nothing is lost, the order per pod holds", async () => {
    await makeTopic(topic);
    await using agent = await start();
    await waitFor("a first frame in Kafka", async () => (await sent(agent)) > 0, 60_000);
    await stopComponent(broker);
    const before = agent.frames.all.length;
    await waitFor("three intervals", () => intervals(agent.frames.all.slice(before), names[0]).length >= outage);
    await startComponent(broker);
    await waitFor("the queue to be empty", async () => (await gauge(agent, "queue_frames", "kafka")) === 0, 90_000);
    expect(await agent.memory()).toBeLessThan(MEMORY);
    const text = await agent.metrics();
    expect(text).not.toMatch(/^trawler_frames_lost_total\{/m);
    expect(text).toMatch(/^trawler_frames_total\{reason="interval",emitter="kafka",result="retried"\} [1-9]/m);
    expect(await agent.stop()).toBe(0);
    await using reader = await TopicReader.open(topic);
    expect(await missing(agent, reader, 0)).toEqual([]);
    for (const name of names) expectGapless(unique(frames(reader).filter(isOf(name))));
  });

  test("SIGTERM with frames in the queue: all are in Kafka, exit 0 in time", async () => {
    await using agent = await start();
    await waitFor("a first frame in Kafka", async () => (await sent(agent)) > 0, 60_000);
    signalBroker("SIGSTOP");
    await waitFor("a queue", async () => (await gauge(agent, "queue_frames", "kafka")) >= 6);
    const stopping = agent.stop();
    const told = performance.now();
    await waitFor("the agent to have heard of it", () => agent.log.some((line) => line.includes("stopping")));
    signalBroker("SIGCONT");
    expect(await stopping).toBe(0);
    expect(performance.now() - told).toBeLessThan(10_000);
    await using reader = await TopicReader.open(topic);
    expect(await missing(agent, reader, 0)).toEqual([]);
  });

  test("SIGTERM while the broker is away: exit 0 within the grace period, and how many were lost is told", async () => {
    await using agent = await start();
    await waitFor("a first frame in Kafka", async () => (await sent(agent)) > 0, 60_000);
    await stopComponent(broker, "SIGKILL");
    await waitFor("a queue", async () => (await gauge(agent, "queue_frames", "kafka")) >= 6);
    const told = performance.now();
    expect(await agent.stop()).toBe(0);
    expect(performance.now() - told).toBeLessThan(14_000);
    const [warning] = logged(agent, "emitter kafka did not take");
    const [stopped] = logged(agent, "stopped");
    await startComponent(broker);
    await using reader = await TopicReader.open(topic);
    const lost = await missing(agent, reader, Number(warning?.["frames"]));
    expect(lost.length).toBeGreaterThanOrEqual(6);
    expect(stopped).toMatchObject({ lost: lost.length });
  });

  test("C124: a frame over the limit is cut and split into parts of one id; the others pass whole", async () => {
    await applyWide();
    await makeTopic(topic, { "max.message.bytes": "10000" });
    await using agent = await start({ compression: "none", maxFrame: "9KiB" }, { crawlers: { cpu: {}, process: {} } });
    const wide = await agent.frames.next(`${namespace}/wide`, "with all rows", hasAllRows);
    await using reader = await TopicReader.open(topic);
    const parts = await waitFor("all its parts", () => {
      const found = frames(reader).filter(({ id }) => id === wide.id);
      return found.length > 0 && found.length === found[0]?.part?.count && found;
    });
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.map(({ part }) => part?.index)).toEqual(parts.map((_, index) => index));
    const validate = frameValidator();
    for (const part of parts) {
      expect(validate(part), JSON.stringify(part)).toEqual([]);
      expect(part).toMatchObject({ sequence: wide.sequence, time: wide.time, resource: wide.resource });
    }
    for (const name of ["left", "right"]) {
      const places = parts.flatMap(({ containers }) => containers).filter((one) => one.name === name);
      // All else of the container is there; of its processes those that a frame over the limit keeps.
      expect(places.flatMap(({ features }) => features).filter(({ type }) => type === "process")).toHaveLength(20);
      expect(places.flatMap(({ features }) => features).filter(({ type }) => type === "cpu")).toHaveLength(1);
      expect(places.flatMap(({ problems }) => problems)).toMatchObject([{ crawler: null, code: "truncated" }]);
    }
    const others = frames(reader).filter((frame) => names.some((name) => isOf(name)(frame)));
    expect(others.length).toBeGreaterThan(0);
    expect(others.filter(({ part }) => part)).toEqual([]);
    expect(await counted(agent, "oversized")).toBe(0);
    expect(await agent.stop()).toBe(0);
    expect(await missing(agent, reader, 0)).toEqual([]);
  });

  test("C124: a frame that the broker refuses all the same is counted and named, and blocks no other", async () => {
    await applyWide();
    await makeTopic(topic, { "max.message.bytes": "10000" });
    await using agent = await start({ compression: "none" }, { crawlers: { cpu: {}, process: {} } });
    await agent.frames.next(`${namespace}/wide`, "with all rows", hasAllRows);
    await waitFor("refusals", async () => (await counted(agent, "rejected")) >= 2);
    expect(await agent.stop()).toBe(0);
    const warnings = logged(agent, "emitter kafka never took");
    for (const warning of warnings) {
      expect(warning).toMatchObject({ level: "warn", name: `${namespace}/wide`, code: "too_large" });
      expect(warning["bytes"]).toBeGreaterThan(10_000);
    }
    await using reader = await TopicReader.open(topic);
    const lost = await missing(agent, reader, warnings.length);
    expect(lost.filter((frame) => !isOf(`${namespace}/wide`)(frame))).toEqual([]);
  });

  test("C135: stopped and continued: no overlapping crawls, no burst, nothing lost, the sequence is whole", async () => {
    await makeTopic(topic);
    await using agent = await start();
    await waitFor("a first frame in Kafka", async () => (await sent(agent)) > 0, 60_000);
    const slots = frozen / EVERY;
    process.kill(agent.pid, "SIGSTOP");
    await sleep(frozen * 1000);
    const began = Date.now();
    process.kill(agent.pid, "SIGCONT");
    const after = () => intervals(agent.frames.all, names[0]).filter(({ time }) => Date.parse(time) >= began);
    await waitFor("four more slots", () => after().length >= 4);
    expect(await agent.stop()).toBe(0);
    const ended = Date.now();
    for (const name of names) {
      const all = agent.frames.of(name);
      expectGapless(all);
      // Slots that have passed are skipped, not caught up: one frame for each slot since, and the one that was due.
      const fresh = intervals(all, name).filter(({ time }) => Date.parse(time) >= began);
      expect(fresh.length).toBeLessThanOrEqual(Math.ceil((ended - began) / 1000 / EVERY) + 1);
    }
    const { skipped } = logged(agent, "stopped")[0] ?? {};
    expect(skipped).toBeGreaterThanOrEqual(slots - 2);
    await using reader = await TopicReader.open(topic);
    expect(await missing(agent, reader, 0)).toEqual([]);
  });
});

/** 60 processes in each of two containers. */
const hasAllRows = ({ containers }: Frame) =>
  containers.length === 2 &&
  containers.every(({ features }) => features.filter(({ type }) => type === "process").length >= 60);

const isOf =
  (name: string) =>
  ({ resource }: Frame) =>
    `${resource["k8s.namespace.name"]}/${resource["k8s.pod.name"]}` === name;

const intervals = (all: readonly Frame[], name = "") =>
  all.filter(isOf(name)).filter(({ reason }) => reason === "interval");

function frames({ records }: TopicReader): Frame[] {
  return records.map(({ value }) => JSON.parse(value) as Frame);
}

/** Delivery is at least once: the first of each id. */
function unique(all: readonly Frame[]): Frame[] {
  const seen = new Set<string>();
  return all.filter(({ id }) => !seen.has(id) && seen.add(id));
}

function expectGapless(all: readonly Frame[]): void {
  expect(all.length).toBeGreaterThan(0);
  expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1));
}

/** Frames that were made and are not in the topic, once all others are. */
async function missing(agent: Agent, reader: TopicReader, expected: number): Promise<Frame[]> {
  const made = agent.frames.all;
  const absent = () => {
    const there = new Set(reader.records.map(({ headers }) => headers["trawler-frame-id"]));
    return made.filter(({ id }) => !there.has(id));
  };
  await waitFor(`all but ${expected} of ${made.length} frames`, () => absent().length <= expected);
  expect(absent()).toHaveLength(expected);
  return absent();
}

async function gauge(agent: Agent, name: string, emitter: string): Promise<number> {
  const found = new RegExp(`^trawler_${name}\\{[^}]*emitter="${emitter}"[^}]*\\} (\\d+)`, "m").exec(
    await agent.metrics(),
  );
  return Number(found?.[1]);
}

async function counted(agent: Agent, reason: string): Promise<number> {
  const found = new RegExp(`^trawler_frames_lost_total\\{reason="${reason}"\\} (\\d+)`, "m").exec(
    await agent.metrics(),
  );
  return Number(found?.[1] ?? 0);
}

async function sent(agent: Agent): Promise<number> {
  const found = /^trawler_frames_total\{reason="interval",emitter="kafka",result="sent"\} (\d+)/m.exec(
    await agent.metrics(),
  );
  return Number(found?.[1] ?? 0);
}

function signalBroker(signal: NodeJS.Signals): void {
  const pid = componentPid(broker);
  if (pid === undefined) throw new Error("the broker does not run");
  process.kill(pid, signal);
}

/** Lines of the agent's log that begin so. */
function logged(agent: Agent, text: string): Readonly<Record<string, unknown>>[] {
  return agent.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => String(msg).startsWith(text));
}
