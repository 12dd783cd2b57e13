import { readFileSync } from "node:fs";
import { parseFrame } from "@trawler/format";
import type { Emitter, Frame } from "@trawler/plugin-api";
import { fakeClock, fakeContext, fakeEnvelope, fakeHost, type HttpReply, httpReceiver } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import plugin from "../src/index.ts";
import { resourceLogs } from "../src/logs.ts";
import { resourceMetrics } from "../src/metrics.ts";

interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: {
    readonly aggregationTemporality: number;
    readonly isMonotonic: boolean;
    readonly dataPoints: Point[];
  };
  readonly gauge?: { readonly dataPoints: Point[] };
}
interface Point {
  readonly asInt?: string;
  readonly asDouble?: number;
  readonly timeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}
interface Resource {
  readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] };
  readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[];
}

/** The frame of a real pod of two containers. */
const frame: Frame = parseFrame(new Uint8Array(readFileSync(new URL("../testdata/pod-frame.json", import.meta.url))));
const resources = resourceMetrics(frame) as readonly Resource[];
const metricsOf = (index: number): ReadonlyMap<string, Metric> =>
  new Map(resources[index]?.scopeMetrics[0]?.metrics.map((metric) => [metric.name, metric]));
const attributesOf = ({ attributes }: { readonly attributes: Point["attributes"] }) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]));

describe("metrics of a real pod", () => {
  test("one resource for the pod and one for each container, by the conventions' names", () => {
    expect(resources).toHaveLength(3);
    expect(attributesOf(resources[0]?.resource ?? { attributes: [] })).toMatchObject({
      "k8s.namespace.name": "shop",
      "k8s.pod.uid": frame.resource["k8s.pod.uid"],
      "k8s.deployment.name": "load",
      "k8s.pod.label.app": "load",
    });
    expect(attributesOf(resources[1]?.resource ?? { attributes: [] })).toMatchObject({
      "k8s.pod.uid": frame.resource["k8s.pod.uid"],
      "k8s.container.name": "a",
      "container.id": frame.containers[0]?.id,
      "container.image.name": "registry.example.test/busybox",
    });
  });

  test("a counter is a cumulative sum with its unit, a state a gauge", () => {
    expect(metricsOf(0).get("k8s.pod.cpu.time")).toMatchObject({
      unit: "s",
      sum: { aggregationTemporality: 2, isMonotonic: true },
    });
    expect(metricsOf(1).get("container.memory.usage")).toMatchObject({ unit: "By", gauge: {} });
  });

  test("directions and interfaces are attributes", () => {
    const points = metricsOf(0).get("k8s.pod.network.io")?.sum?.dataPoints ?? [];
    expect(points.map(attributesOf)).toEqual([
      { "network.interface.name": "eth0", "network.io.direction": "receive" },
      { "network.interface.name": "eth0", "network.io.direction": "transmit" },
    ]);
  });

  test("parity 082: the number of a processor tells its points apart and is no metric", () => {
    const features = [0, 1].map((number) => ({
      type: "processor",
      key: `cpu-${number}`,
      value: { "cpu.logical_number": number, "cpu.usage": 0.5 },
    }));
    const [host] = resourceMetrics({ ...frame, kind: "host", features, containers: [] }) as readonly Resource[];
    const metrics = host?.scopeMetrics[0]?.metrics ?? [];
    expect(metrics.map(({ name }) => name)).toEqual(["processor.cpu.usage"]);
    const points = metrics[0]?.gauge?.dataPoints.map(attributesOf);
    expect(points?.map((one) => one["cpu.logical_number"])).toEqual(["0", "1"]);
  });

  test("integers are texts, times nanoseconds, and what was not measured is no point", () => {
    for (const { scopeMetrics } of resources) {
      for (const { sum, gauge, name } of scopeMetrics[0]?.metrics ?? []) {
        const points = (sum ?? gauge)?.dataPoints ?? [];
        expect(points.length, name).toBeGreaterThan(0);
        for (const { asInt, asDouble, timeUnixNano } of points) {
          expect(asInt === undefined ? Number.isFinite(asDouble) : /^-?\d+$/.test(asInt), name).toBe(true);
          expect(timeUnixNano).toBe(`${Date.parse(frame.time)}000000`);
        }
      }
    }
    expect(metricsOf(1).has("container.cpu.limit")).toBe(false);
  });
});

describe("logs", () => {
  test("a plain interval without problems is silent", () => {
    expect(resourceLogs({ ...frame, problems: [], containers: [] })).toEqual([]);
  });

  test("an end is an event with exit code and reason, a problem a warning", () => {
    const [container] = frame.containers;
    if (container === undefined) throw new Error("the frame has no container");
    const state = { ...container.state, status: "terminated", exitCode: 137, reason: "OOMKilled" } as const;
    const problem = { crawler: "redis", code: "denied", message: "no right", count: 3 } as const;
    const ended: Frame = {
      ...frame,
      reason: "ended",
      final: true,
      problems: [problem],
      containers: [{ ...container, state }],
    };
    const text = JSON.stringify(resourceLogs(ended));
    expect(JSON.parse(text)).toMatchObject([
      {
        scopeLogs: [
          {
            logRecords: [
              { eventName: "trawler.pod.ended", severityNumber: 9 },
              { eventName: "trawler.problem", severityNumber: 13, body: { stringValue: "no right" } },
            ],
          },
        ],
      },
      { scopeLogs: [{ logRecords: [{ eventName: "trawler.container.ended" }] }] },
    ]);
    expect(text).toContain('{"key":"process.exit.code","value":{"intValue":"137"}}');
  });
});

describe("delivery", () => {
  const clock = fakeClock();
  async function emitter(port: number): Promise<Emitter & AsyncDisposable> {
    const settings = plugin.config.parse({ url: `http://127.0.0.1:${port}/` });
    const created = await plugin.create(settings, fakeHost({ clock }));
    return { write: created.write, [Symbol.asyncDispose]: async () => created[Symbol.asyncDispose]?.() };
  }

  test("figures go to /v1/metrics, events to /v1/logs", async () => {
    await using server = await httpReceiver();
    await using one = await emitter(server.port);
    const bytes = new TextEncoder().encode(JSON.stringify({ ...frame, reason: "started" }));
    await one.write([fakeEnvelope(0, { bytes })], fakeContext());
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/metrics", "/v1/logs"]);
    expect(server.requests[0]?.headers["content-type"]).toBe("application/json");
  });

  test.each<[HttpReply, object]>([
    [{ status: 503, headers: { "retry-after": "3" } }, { code: "TRAWLER_RETRY" }],
    [{ status: 400, text: "bad" }, { rejected: [{ code: "TRAWLER_REFUSED" }] }],
    [{ status: 200, text: '{"partialSuccess":{"rejectedDataPoints":"1","errorMessage":"late"}}' }, {}],
  ])("%j", async (reply, expected) => {
    await using server = await httpReceiver(() => reply);
    await using one = await emitter(server.port);
    const result = await one.write([fakeEnvelope(0)], fakeContext()).catch((error: unknown) => error);
    expect(result ?? {}).toMatchObject(expected);
    clock.advance(10_000);
  });
});
