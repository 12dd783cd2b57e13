import { readFileSync } from "node:fs";
import { csv, type Document, documentOf, graphite, jsonLines, parseFrame, type Row } from "@trawler/format";
import type { Frame } from "@trawler/plugin-api";
import { expect, test } from "vitest";

const lines = (text: string): readonly string[] => text.trimEnd().split("\n");
const all = (type: string, key: string, ...names: readonly string[]): Row => ({
  type,
  key,
  value: Object.fromEntries(names.map((name) => [name, 12345])),
});
const document: Document = {
  namespace: "namespace777",
  timestamp: "2017-02-07T13:20:15-0500",
  metadata: { namespace: "namespace777" },
  rows: [
    all("memory", "memory", "memory_used"),
    all("memory", "memory_0", "test3"),
    all("load", "load", "shortterm"),
    all("cpu", "cpu", "cpu_user"),
    all("cpu", "cpu_0", "cpu_user"),
    all("interface", "eth0", "if_tx"),
    all("interface", "eth0", "if_rx"),
    all("bla", "bla/bla", "ble/ble"),
  ],
};

test("parity F1: a frame of one feature is two lines of csv: metadata, then the feature", () => {
  const found = lines(csv({ ...document, rows: [all("os", "linux", "uptime")] }));
  expect(found).toHaveLength(2);
  expect(found.map((line) => line.split("\t")[0])).toEqual(["metadata", "os"]);
});

test("parity F2: eight features are nine lines of csv", () => {
  expect(lines(csv(document))).toHaveLength(9);
});

test("parity F3: eight features of one number each are eight lines for Graphite", () => {
  const found = lines(graphite(document));
  expect(found).toHaveLength(8);
  expect(found.some((line) => line.includes("memory-0.test3 12345"))).toBe(true);
});

test("parity E12: a line for Graphite is path, value and seconds", () => {
  const [line = ""] = lines(graphite({ ...document, rows: [all("group", "group", "cpu")] }));
  expect(line).toBe("namespace777.group.cpu 12345.000000 1486491615");
});

test("parity B3: an interface, a processor, memory and a package each have their path", () => {
  const rows = [
    all("interface", "interface-lo", "if_octets_tx"),
    all("cpu", "cpu-0", "cpu_idle"),
    all("memory", "memory", "memory_used"),
    all("package", "apt", "pkgsize"),
  ];
  expect(lines(graphite({ ...document, rows })).map((line) => line.split(" ")[0])).toEqual([
    "namespace777.interface-lo.if_octets.tx",
    "namespace777.cpu-0.cpu-idle",
    "namespace777.memory.memory-used",
    "namespace777.apt.pkgsize",
  ]);
});

test("parity K3: a container's name is a part of the path, whatever it holds", () => {
  const [line = ""] = lines(graphite({ ...document, namespace: "10.0.0.1/web", rows: [all("load", "load", "one")] }));
  expect(line.split(" ")[0]).toBe("10_0_0_1.web.load.load.one");
  expect(lines(jsonLines({ ...document, namespace: "10.0.0.1/web" }))[1]).toContain('"namespace":"10.0.0.1/web"');
});

/** A container's frame, made of a real pod's. */
const containerFrame = (resource: Frame["resource"], labels: Frame["labels"]): Frame => ({
  ...parseFrame(new Uint8Array(readFileSync(new URL("../testdata/pod-frame.json", import.meta.url)))),
  kind: "container",
  resource: { "host.name": "node-a", ...resource },
  labels,
  containers: [],
});

test.each([[{}], [{ foo: "bar" }], [{ "io.kubernetes.pod.name": "" }]])(
  "parity K2: a container whose labels name no pod (%j) is named by its host and itself",
  (labels) => {
    const frame = containerFrame({ "container.name": "web", "container.id": "0123456789abcdef" }, labels);
    expect(documentOf(frame).namespace).toBe("node-a/web");
  },
);

test("parity K3: a container without a name is named by the first twelve characters of its id", () => {
  const frame = containerFrame({ "container.name": "", "container.id": "0123456789abcdef" }, {});
  expect(documentOf(frame).namespace).toBe("node-a/0123456789ab");
});

test("parity F10: a container's metadata has its kind, features, name, image and the attributes of one's own", () => {
  const resource = {
    "host.name": "10.0.0.1",
    "container.name": "web",
    "container.image.name": "nginx",
    test_field: "1234",
    test_field2: "aaaa",
  };
  const features = [{ type: "cpu", key: "cpu", value: { "cpu.time": 1 } }];
  const frame = { ...containerFrame(resource, {}), features };
  const [metadata = "", feature = ""] = lines(csv(documentOf(frame)));
  expect(JSON.parse(metadata.split("\t")[2] ?? "")).toMatchObject({
    namespace: "10.0.0.1/web",
    system_type: "container",
    features: "cpu",
    resource,
  });
  expect(feature.split("\t").slice(0, 2)).toEqual(["cpu", expect.stringContaining("cpu")]);
});
