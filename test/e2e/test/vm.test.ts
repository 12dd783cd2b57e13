import type { Frame } from "@trawler/plugin-api";
import { progressOnStderr } from "@trawler/testbed";
import {
  type CgroupFigures,
  type CgroupReading,
  cgroupName,
  drivers,
  figuresOf,
  type GuestPod,
  type GuestResult,
  interfacesOf,
  type PodReading,
  runInMachine,
  vmUnsupported,
} from "@trawler/vm";
import { beforeAll, describe, expect, test } from "vitest";
import { container, feature, number } from "../src/frames.ts";
import { frameValidator } from "../src/validate.ts";

// Ten times what a run takes on an idle machine. No figure here is timed.
const deadline = 900_000;
const progress = progressOnStderr();
const reason = await vmUnsupported(progress);
if (reason !== undefined) console.warn(`the virtual machine is skipped: ${reason}`);

/** One pod in one crawl: its frame, and what the kernel said before and after. */
interface Sighting {
  readonly pod: GuestPod;
  readonly frame: Frame;
  readonly before: PodReading;
  readonly after: PodReading;
}

type Holder = Parameters<typeof number>[0];

const between = (value: number, low: number, high: number): void => {
  expect(value).toBeGreaterThanOrEqual(low);
  expect(value).toBeLessThanOrEqual(high);
};

const framesOf = (stdout: string): Frame[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Frame);

const found = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new Error(`no ${what}`);
  return value;
};

const sightingsIn = ({ pods, rounds }: GuestResult): Sighting[] =>
  rounds.flatMap(({ before, crawl, after }) => {
    const frames = framesOf(crawl.stdout);
    return pods.map((pod) => {
      const of = (readings: readonly PodReading[]): PodReading =>
        found(
          readings.find(({ uid }) => uid === pod.metadata.uid),
          "reading",
        );
      const frame = frames.find(({ resource }) => resource["k8s.pod.name"] === pod.metadata.name);
      return { pod, frame: found(frame, `frame of ${pod.metadata.name}`), before: of(before), after: of(after) };
    });
  });

const runtimeId = (reference = ""): string => reference.replace(/^.*:\/\//, "");

/** The pod and its containers: what holds features, and its two readings. */
const pairs = ({ pod, frame, before, after }: Sighting): [Holder, CgroupReading, CgroupReading][] => [
  [frame, before.cgroup, after.cgroup],
  ...(pod.status.containerStatuses ?? []).map(({ name, containerID }): [Holder, CgroupReading, CgroupReading] => {
    const child = ({ children }: PodReading): CgroupReading =>
      found(
        Object.entries(children).find(([folder]) => folder.includes(runtimeId(containerID)))?.[1],
        `cgroup of ${name}`,
      );
    return [container(frame, name), child(before), child(after)];
  }),
];

const counters: readonly [type: string, field: string, of: (figures: CgroupFigures) => number][] = [
  ["cpu", "cpu.time", ({ cpuTime }) => cpuTime],
  ["cpu", "cpu.time.user", ({ cpuUser }) => cpuUser],
  ["cpu", "cpu.time.system", ({ cpuSystem }) => cpuSystem],
  ["cpu", "cpu.throttling.throttled_periods", ({ throttledPeriods }) => throttledPeriods],
];

const paths = {
  cgroupfs: {
    shop: /^\/kubepods\/burstable\/pod[0-9a-f-]{36}$/,
    busy: /^\/kubepods\/pod[0-9a-f-]{36}$/,
    "static-node-v2": /^\/kubepods\/besteffort\/pod[0-9a-f]{32}$/,
  },
  systemd: {
    shop: /^\/kubepods\.slice\/kubepods-burstable\.slice\/kubepods-burstable-pod[0-9a-f_]{36}\.slice$/,
    busy: /^\/kubepods\.slice\/kubepods-pod[0-9a-f_]{36}\.slice$/,
    "static-node-v2": /^\/kubepods\.slice\/kubepods-besteffort\.slice\/kubepods-besteffort-pod[0-9a-f]{32}\.slice$/,
  },
};

describe.skipIf(reason !== undefined)("a node on cgroup v2 in a virtual machine", () => {
  describe.each(drivers)("with the %s driver", (driver) => {
    let result: GuestResult;
    let sightings: readonly Sighting[] = [];

    beforeAll(async () => {
      result = await runInMachine(driver, { progress, deadline });
      for (const { crawl } of result.rounds) expect(crawl.code, crawl.stderr).toBe(0);
      sightings = sightingsIn(result);
    }, 3_600_000);

    test("the guest is what it should be: one hierarchy of version 2, and pods where the driver puts them", () => {
      expect(result.driver).toBe(driver);
      expect(result.init === "systemd").toBe(driver === "systemd");
      expect(result.controllers.split(" ")).toEqual(expect.arrayContaining(["cpu", "io", "memory", "pids"]));
      expect(result.rounds).toHaveLength(3);
      for (const { pod, before } of sightings) {
        const [, pattern] = found(
          Object.entries(paths[driver]).find(([name]) => name === pod.metadata.name),
          "pattern",
        );
        expect(before.cgroup.path).toMatch(pattern);
      }
    });

    test("each crawl gives one valid frame per pod", () => {
      const validate = frameValidator();
      for (const { crawl } of result.rounds) {
        const frames = framesOf(crawl.stdout);
        expect(frames.flatMap(validate)).toEqual([]);
        expect(frames.map(({ resource }) => resource["k8s.pod.name"]).toSorted()).toEqual(
          result.pods.map(({ metadata }) => metadata.name).toSorted(),
        );
      }
    });

    test("no sandbox is a member, though each pod's cgroup holds one more child", () => {
      for (const { pod, frame, before } of sightings) {
        const ids = (pod.status.containerStatuses ?? []).map(({ containerID }) => runtimeId(containerID));
        expect(frame.containers.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
        expect(Object.keys(before.children)).toHaveLength(ids.length + 1);
      }
    });

    test("CPU counters lie between the two readings, of pods and of containers", () => {
      for (const [holder, before, after] of sightings.flatMap(pairs)) {
        for (const [type, field, of] of counters)
          between(number(holder, type, field), of(figuresOf(before)), of(figuresOf(after)));
      }
    });

    test("block device counters lie between the two readings", () => {
      let compared = 0;
      for (const [holder, before, after] of sightings.flatMap(pairs)) {
        const [low, high] = [figuresOf(before).devices, figuresOf(after).devices];
        for (const [device, most] of high) {
          const least = low.get(device);
          if (least === undefined) continue;
          between(number(holder, "blockio", "disk.io.read", device), least.readBytes, most.readBytes);
          between(number(holder, "blockio", "disk.io.write", device), least.writtenBytes, most.writtenBytes);
          between(number(holder, "blockio", "disk.operations.read", device), least.readOperations, most.readOperations);
          between(
            number(holder, "blockio", "disk.operations.write", device),
            least.writeOperations,
            most.writeOperations,
          );
          compared++;
        }
      }
      expect(compared).toBeGreaterThan(0);
    });

    test("network counters lie between the two readings inside the pod's namespace", () => {
      for (const { frame, before, after } of sightings) {
        const high = interfacesOf(after.interfaces);
        const low = interfacesOf(before.interfaces);
        expect([...low.keys()]).toContain("eth0");
        for (const [name, least] of low) {
          const most = found(high.get(name), name);
          const value = (field: string): number => number(frame, "network", field, name);
          between(value("network.io.receive"), least.receivedBytes, most.receivedBytes);
          between(value("network.io.transmit"), least.transmittedBytes, most.transmittedBytes);
          between(value("network.packets.receive"), least.receivedPackets, most.receivedPackets);
          between(value("network.packets.transmit"), least.transmittedPackets, most.transmittedPackets);
        }
      }
    });

    test("the busy pod's counters grow from crawl to crawl", () => {
      const busy = sightings.filter(({ pod }) => pod.metadata.name === "busy").map(({ frame }) => frame);
      for (const [type, field, key] of [
        ["cpu", "cpu.time"],
        ["cpu", "cpu.throttling.throttled_periods"],
        ["blockio", "disk.io.write"],
        ["network", "network.io.transmit", "eth0"],
      ] as const) {
        const values = busy.map((frame) => number(frame, type, field, key));
        expect(values, field).toEqual(values.toSorted((a, b) => a - b));
        expect(new Set(values).size, field).toBe(3);
      }
    });

    test("memory of the pod at rest lies within one per cent beyond the two readings", () => {
      const idle = sightings.filter(({ pod }) => pod.metadata.labels?.["load"] === "none");
      expect(idle).toHaveLength(3);
      for (const [holder, before, after] of idle.flatMap(pairs)) {
        const readings = [figuresOf(before), figuresOf(after)];
        const within = (field: string, values: readonly number[]): void =>
          between(number(holder, "memory", field), Math.min(...values) * 0.99, Math.max(...values) * 1.01);
        within(
          "memory.working_set",
          readings.map(({ workingSet }) => workingSet),
        );
        within(
          "memory.usage",
          readings.map(({ memoryUsage }) => memoryUsage),
        );
      }
    });

    test("a container at rest has as many threads as its cgroup has tasks", () => {
      for (const { frame, before, pod } of sightings) {
        if (pod.metadata.labels?.["load"] !== "none") continue;
        const main = container(frame, "main");
        const threads = main.features
          .filter(({ type }) => type === "process")
          .reduce((sum, { key }) => sum + number(main, "process", "thread.count", key), 0);
        const reading = Object.entries(before.children).find(([folder]) => folder.includes(main.id ?? "none"));
        expect(threads).toBe(figuresOf(found(reading, "cgroup")[1]).tasks);
      }
    });

    test("limits are those of the specification", () => {
      for (const { pod, frame } of sightings) {
        if (pod.metadata.name === "busy") {
          expect(feature(frame, "cpu")).toMatchObject({ "cpu.limit": 0.2 });
          expect(feature(container(frame, "worker"), "memory")).toMatchObject({ "memory.limit": 67_108_864 });
        }
        if (pod.metadata.name === "shop") {
          expect(feature(container(frame, "redis"), "cpu")).toMatchObject({ "cpu.limit": 0.3 });
          expect(feature(container(frame, "nginx"), "memory")).toMatchObject({ "memory.limit": null });
        }
      }
    });

    test("metadata is complete: address, class, labels, annotations, version, and the static pod's mirror", () => {
      for (const { pod, frame } of sightings) {
        const { metadata, status } = pod;
        expect(frame.metadata).toMatchObject({ complete: true, reason: null });
        expect(frame.resource).toMatchObject({
          "k8s.cluster.name": "vm",
          "k8s.node.name": "node-v2",
          "k8s.namespace.name": metadata.namespace,
          "k8s.pod.uid": cgroupName(pod),
          "k8s.pod.ip": status.podIP,
        });
        expect(frame.status).toMatchObject({
          phase: "Running",
          qosClass: status.qosClass,
          static: cgroupName(pod) !== metadata.uid,
          resourceVersion: expect.stringMatching(/^\d+$/),
        });
        expect(frame.labels).toEqual(metadata.labels);
        expect(frame.annotations).toEqual(metadata.annotations ?? {});
        expect(frame.resource["trawler.mirror.uid"]).toBe(cgroupName(pod) === metadata.uid ? undefined : metadata.uid);
      }
    });

    test("applications are asked from the bundle as well: redis answers, files of the container are read", () => {
      for (const { pod, frame } of sightings) {
        if (pod.metadata.name !== "shop") continue;
        const redis = container(frame, "redis");
        expect(feature(redis, "redis", "6379")).toMatchObject({ state: "ok" });
        expect(feature(redis, "os")).toMatchObject({ id: "debian", version: "12" });
      }
    });
  });
});
