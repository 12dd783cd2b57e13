import { readFileSync } from "node:fs";
import { documentOf, FORMATS, formatFrame, parseFrame } from "@trawler/format";
import { expect, test } from "vitest";

/** The frame of a real pod of two containers. */
const bytes = new Uint8Array(readFileSync(new URL("../testdata/pod-frame.json", import.meta.url)));
const frame = parseFrame(bytes);
const text = (format: (typeof FORMATS)[number]): string => new TextDecoder().decode(formatFrame(bytes, format));
const pod = `shop/${frame.resource["k8s.pod.name"]}`;

test("a frame's rows are those of the pod, then those of each container under its name", () => {
  const { namespace, metadata, rows } = documentOf(frame);
  expect(namespace).toBe(pod);
  expect(metadata).toMatchObject({
    uuid: frame.id,
    system_type: "pod",
    timestamp: frame.time,
    labels: { app: "load" },
  });
  const expected = [
    ...frame.features.map(({ key }) => key),
    ...frame.containers.flatMap(({ name, features }) => features.map(({ key }) => `${name}/${key}`)),
  ];
  expect(rows.map(({ key }) => key)).toEqual(expected);
  expect(new Set(rows.map(({ type, key }) => `${type} ${key}`)).size).toBe(rows.length);
});

test("parity K1: the subject is named alike in csv, json lines and graphite", () => {
  expect(text("csv")).toContain(`"namespace":"${pod}"`);
  expect(text("json-lines")).toContain(`"namespace":"${pod}"`);
  const path = `${pod.replace("/", ".")}.a$cpu.cpu.time `;
  expect(
    text("graphite")
      .split("\n")
      .some((line) => line.startsWith(path)),
  ).toBe(true);
});

test("parity B2: a host's frame has as many cpu- lines as it has processors", () => {
  const features = [0, 1, 2, 3].map((number) => ({
    type: "processor",
    key: `cpu-${number}`,
    value: { "cpu.logical_number": number, "cpu.time.idle": 99.5 },
  }));
  const host = { ...frame, kind: "host", resource: { "host.name": "node-a" }, containers: [], features };
  const written = (format: (typeof FORMATS)[number]): readonly string[] =>
    new TextDecoder().decode(formatFrame(new TextEncoder().encode(JSON.stringify(host)), format)).split("\n");
  expect(written("csv").filter((line) => line.startsWith('processor\t"cpu-'))).toHaveLength(4);
  expect(written("json-lines").filter((line) => line.includes('"feature_key":"cpu-'))).toHaveLength(4);
  expect(written("graphite").filter((line) => /^node-a\.cpu-\d\.cpu\.time\.idle 99\.5/.test(line))).toHaveLength(4);
});

test("ecs: one document for the pod and one for each container, with the schema's own fields", () => {
  const documents = text("ecs")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  expect(documents).toHaveLength(1 + frame.containers.length);
  for (const document of documents) {
    expect(document).toMatchObject({
      "@timestamp": frame.time,
      event: { kind: "metric", module: "trawler", dataset: "trawler.pod", id: frame.id },
      orchestrator: {
        type: "kubernetes",
        namespace: "shop",
        resource: { type: "pod", id: frame.resource["k8s.pod.uid"], ip: frame.status?.ips },
      },
      host: { name: "node-a" },
      labels: { app: "load" },
    });
  }
  const [container] = frame.containers;
  expect(documents[1]).toMatchObject({ container: { id: container?.id, name: container?.name } });
});

test("ecs: no name of a feature's field is a path, so that none is the beginning of another's", () => {
  const [, document] = text("ecs")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  expect(document.trawler.features.cpu[0]).toMatchObject({
    cpu_time: expect.any(Number),
    cpu_time_user: expect.any(Number),
  });
});

test.each(FORMATS)("%s ends with a whole line and is the same each time", (format) => {
  expect(text(format).endsWith("\n")).toBe(true);
  expect(text(format)).toBe(text(format));
});

test("json is the frame itself", () => {
  expect(JSON.parse(text("json"))).toEqual(frame);
});

test.each(["no json", "[]", '{"schema":"other/1"}'])("parity F11: %s is refused", (wrong) => {
  expect(() => formatFrame(new TextEncoder().encode(wrong), "csv")).toThrow(
    expect.objectContaining({ code: "TRAWLER_PLUGIN_INVALID" }),
  );
});
