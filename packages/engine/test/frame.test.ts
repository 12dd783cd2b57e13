import { encode } from "@trawler/engine";
import type { Digests, Feature, Frame, Problem, Workload } from "@trawler/plugin-api";
import { fakeContainer, fakeWorkload, validateFrame } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import { buildFrame } from "../src/frame.ts";
import { fit } from "../src/shrink.ts";

interface Setup {
  readonly workload?: Workload;
  readonly features?: readonly Feature[];
  readonly problems?: readonly Problem[];
  readonly members?: Readonly<Record<string, readonly Feature[]>>;
  readonly digests?: Digests;
}

function frameOf({
  workload = fakeWorkload(),
  features = [],
  problems = [],
  members = {},
  digests,
}: Setup = {}): Frame {
  return buildFrame(workload, {
    reason: "interval",
    agent: { instance: "i", version: "1" },
    sequence: 1,
    now: Date.UTC(2026, 10, 30),
    observedFor: 10.00049,
    subject: { features, problems, ...(digests && { digests }) },
    members: new Map(Object.entries(members).map(([id, found]) => [id, { features: found, problems: [] }])),
  });
}

const parse = (bytes: Uint8Array): Frame => JSON.parse(new TextDecoder().decode(bytes));
const row = (type: string, key: string, size = 10): Feature => ({ type, key, value: { text: "x".repeat(size) } });
const rows = (type: string, count: number, size?: number) =>
  Array.from({ length: count }, (_, i) => row(type, `${i}`, size));

test("the fields stand in the order of the published schema, which it keeps", () => {
  const frame = frameOf({
    features: [row("network", "eth0")],
    problems: [{ crawler: "os", code: "denied", message: "no" }],
  });
  expect(validateFrame(parse(encode(frame)))).toEqual([]);
  expect(Object.keys(frame)).toEqual([
    "schema",
    "id",
    "sequence",
    "time",
    "observedFor",
    "reason",
    "final",
    "agent",
    "kind",
    "resource",
    "labels",
    "annotations",
    "status",
    "metadata",
    "features",
    "problems",
    "containers",
  ]);
  expect(Object.keys(frame.containers[0] ?? {})).toEqual([
    "name",
    "id",
    "image",
    "digest",
    "type",
    "state",
    "resource",
    "resources",
    "features",
    "problems",
  ]);
  expect(frame.observedFor).toBe(10);
  expect(frame.time).toBe("2026-11-30T00:00:00.000Z");
});

test("integers beyond 2^53 stay exact, and the same frame is the same bytes", () => {
  const features: Feature[] = [
    { type: "a", key: "a", value: { big: 18_446_744_073_709_551_615n, small: 7n, half: 0.5 } },
  ];
  const frame = frameOf({ features });
  const text = new TextDecoder().decode(encode(frame));
  expect(text).toContain('{"big":18446744073709551615,"small":7,"half":0.5}');
  expect(encode(frame)).toEqual(encode(frame));
});

test("C45: hostile keys are data", () => {
  const labels: Record<string, string> = Object.create(null);
  for (const [key, value] of [
    ["__proto__", "x"],
    ["constructor", "y"],
    ["toString", "z"],
    ["", "v".repeat(70_000)],
  ] as const)
    labels[key] = value;
  const frame = frameOf({ workload: fakeWorkload({ labels }) });
  const back = parse(encode(frame)).labels;
  expect(Object.keys(back)).toEqual(["__proto__", "constructor", "toString", ""]);
  expect(Object.entries(back).slice(0, 3)).toEqual([
    ["__proto__", "x"],
    ["constructor", "y"],
    ["toString", "z"],
  ]);
  expect(Reflect.get({}, "x")).toBeUndefined();
  expect(frame.problems).toMatchObject([{ crawler: null, code: "truncated" }]);
});

test("C46: last-applied is dropped, large annotations are cut, all of them are bounded, and it is said", () => {
  const annotations: Record<string, string> = {
    "kubectl.kubernetes.io/last-applied-configuration": "x".repeat(250_000),
  };
  for (let index = 0; index < 300; index++) annotations[`note-${index}`] = "東".repeat(2000);
  const frame = frameOf({ workload: fakeWorkload({ annotations }) });
  expect(frame.annotations["kubectl.kubernetes.io/last-applied-configuration"]).toBeUndefined();
  expect(encode(frame.annotations).length).toBeLessThan(70_000);
  for (const value of Object.values(frame.annotations)) expect(encode(value).length).toBeLessThanOrEqual(4096 + 2);
  expect(frame.problems.map(({ code }) => code)).toEqual(["truncated", "truncated"]);
});

test("C49: with nothing optional a frame is valid, and absent is not an empty text", () => {
  const container = fakeContainer({ id: null, handle: {}, resource: {} });
  const workload = fakeWorkload({ containers: [container], resource: { "k8s.pod.ip": null } });
  const frame = parse(encode(frameOf({ workload })));
  expect(validateFrame(frame)).toEqual([]);
  expect(frame.resource).toEqual({ "k8s.pod.ip": null });
});

test("secrets in labels and annotations are redacted", () => {
  const workload = fakeWorkload({
    labels: { team: "data" },
    annotations: { "example.test/api-key": "abc", url: "https://u:p@example.test/x", args: "--token=abc --port=1" },
  });
  expect({ ...frameOf({ workload }).annotations }).toEqual({
    "example.test/api-key": "[redacted]",
    url: "https://[redacted]@example.test/x",
    args: "--token=[redacted] --port=1",
  });
});

describe("C124: a frame over the limit", () => {
  const id = "c".repeat(64);

  function fitted(setup: Setup, maxBytes: number): readonly Frame[] {
    const frame = frameOf(setup);
    const parts = fit(frame, encode(frame), maxBytes) ?? [];
    for (const { bytes } of parts) {
      expect(bytes.length).toBeLessThanOrEqual(maxBytes);
      expect(validateFrame(parse(bytes))).toEqual([]);
    }
    return parts.map(({ bytes }) => parse(bytes));
  }

  test("within the limit stays as it is", () => {
    expect(fitted({ members: { [id]: rows("process", 5) } }, 100_000)).toHaveLength(1);
  });

  test("first keeps 20 rows of each type at each place, and says so", () => {
    const [frame, ...more] = fitted(
      { features: rows("peer", 30), members: { [id]: [...rows("process", 200, 500), row("cpu", "cpu")] } },
      50_000,
    );
    expect(more).toEqual([]);
    expect(frame?.features).toHaveLength(20);
    expect(frame?.problems).toMatchObject([{ crawler: null, code: "truncated" }]);
    expect(frame?.containers[0]?.features.map(({ type }) => type)).toEqual([...Array(20).fill("process"), "cpu"]);
    expect(frame?.containers[0]?.problems).toMatchObject([{ code: "truncated" }]);
  });

  test("then splits: same id, parts counted, nothing lost, every container in one", () => {
    const containers = Array.from({ length: 40 }, (_, index) =>
      fakeContainer({ id: `id-${index}`, name: `c${index}` }),
    );
    const members = Object.fromEntries(containers.map((one) => [one.id ?? "", rows("process", 15, 800)]));
    const frames = fitted({ workload: fakeWorkload({ containers }), features: rows("network", 5), members }, 60_000);
    expect(frames.length).toBeGreaterThan(5);
    expect(new Set(frames.map((frame) => frame.id)).size).toBe(1);
    expect(frames.map(({ part }) => part)).toEqual(frames.map((_, index) => ({ index, count: frames.length })));
    const all = frames.flatMap((frame) => frame.containers);
    expect(new Set(all.map(({ name }) => name)).size).toBe(40);
    expect(all.flatMap(({ features }) => features)).toHaveLength(600);
    expect(frames.flatMap(({ features }) => features)).toHaveLength(5);
  });

  test("first leaves out what crawlers by difference only repeat; their news are never cut to 20 rows", () => {
    const digest = (types: readonly string[], changed: boolean | null): Digests[string] => ({
      types,
      digest: `sha256:${"0".repeat(64)}`,
      changed,
      included: true,
      observedAt: "2026-11-30T00:00:00.000Z",
    });
    const features = [...rows("package", 100, 200), ...rows("file", 50, 200)];
    const digests = { package: digest(["package"], false), file: digest(["file"], true) };
    const [frame, ...more] = fitted({ features, digests }, 30_000);
    expect(more).toEqual([]);
    expect(frame?.features.map(({ type }) => type)).toEqual(Array(50).fill("file"));
    expect(frame?.digests).toMatchObject({ package: { included: false }, file: { included: true } });
    expect(frame?.problems).toMatchObject([{ crawler: "package", code: "truncated" }]);
    const parts = fitted({ features, digests: { package: digest(["package"], null) } }, 20_000);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.flatMap((part) => part.features).filter(({ type }) => type === "package")).toHaveLength(100);
    expect(parts[0]?.digests).toMatchObject({ package: { included: true } });
  });

  test("splits one giant container over several parts", () => {
    const types = Array.from({ length: 30 }, (_, index) =>
      rows(`type${"abcdefghijklmnopqrstuvwxyzABCD"[index]}`, 10, 800),
    ).flat();
    const frames = fitted({ members: { [id]: types } }, 40_000);
    expect(frames.length).toBeGreaterThan(3);
    expect(frames.flatMap(({ containers }) => containers.flatMap(({ features }) => features))).toHaveLength(300);
  });

  test("leaves out one giant feature, and says which", () => {
    const frames = fitted({ members: { [id]: [row("os", "os", 200_000), row("cpu", "cpu")] } }, 40_000);
    const problems = frames.flatMap(({ containers }) => containers.flatMap((one) => one.problems));
    expect(problems).toMatchObject([{ code: "truncated" }]);
    expect(problems[0]?.message).toContain("feature os os");
    expect(frames.flatMap(({ containers }) => containers.flatMap(({ features }) => features))).toHaveLength(1);
  });

  test("gives up annotations and labels where they leave no room", () => {
    const annotations = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`a${i}`, "x".repeat(4000)]));
    const frames = fitted({ workload: fakeWorkload({ annotations }), members: { [id]: rows("cpu", 1) } }, 20_000);
    expect(frames[0]?.annotations).toEqual({});
    expect(frames[0]?.problems).toMatchObject([{ code: "truncated" }]);
  });

  test("says so where not even its head fits", () => {
    const frame = frameOf();
    expect(fit(frame, encode(frame), 500)).toBeNull();
  });
});
