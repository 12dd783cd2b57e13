import { readFileSync } from "node:fs";
import { formatFrame, NAME_HINT, NAME_TEMPLATE, nameBy, namespaceOf, parseFrame } from "@trawler/format";
import { expect, test } from "vitest";

const bytes = new Uint8Array(readFileSync(new URL("../testdata/pod-frame.json", import.meta.url)));
const pod = parseFrame(bytes);
const { "k8s.pod.name": name, "k8s.pod.uid": uid } = pod.resource;
const host = {
  kind: "host",
  resource: { "host.name": "node-a", "host.id": "3d12" },
  labels: {},
  status: null,
} as const;
const container = {
  kind: "container",
  resource: { "host.name": "10.0.0.1", "container.name": "web", "container.id": "c0ffee" },
  labels: {},
  status: null,
} as const;

test.each([
  ["{name}", `shop/${name}`],
  ["{cluster}/{node}/{namespace}/{pod}", `${pod.resource["k8s.cluster.name"]}/node-a/shop/${name}`],
  ["prod.10.0.0.1/{name}", `prod.10.0.0.1/shop/${name}`],
  ["{kind}-{label:app}", "pod-load"],
  ["{id}", uid],
  ["{attribute:k8s.node.name}", "node-a"],
  ["{ip}", pod.status?.ips[0]],
])("parity 054: %s names a pod", (template, expected) => {
  expect(template).toMatch(NAME_TEMPLATE);
  expect(nameBy(template)(pod)).toBe(expected);
});

test("parity 054: one template serves hosts, containers and pods: what is not there leaves no empty part", () => {
  const nameOf = nameBy("{cluster}/{node}/{namespace}/{pod}/{container}");
  expect([host, container].map(nameOf)).toEqual(["node-a", "10.0.0.1/web"]);
  expect(nameBy("{label:team}/{ip}")(host)).toBe(namespaceOf(host));
  expect(nameBy("{label:__proto__}{attribute:constructor}")(host)).toBe("node-a");
});

test("parity 054: a slash in a value is no level of the name", () => {
  expect(nameBy("{label:team}/{name}")({ ...host, labels: { team: "a/b" } })).toBe("a_b/node-a");
});

test.each(["", "{pdo}", "{name", "name}", "{}", "a b", "{label:}", "{label:a b}", "x".repeat(257)])(
  "parity 054: %j is refused at the start",
  (template) => {
    expect(template).not.toMatch(NAME_TEMPLATE);
  },
);

test("parity 054: the hint names what is known", () => {
  expect(NAME_HINT).toContain("{namespace} {pod} {container} {id} {label:KEY} {attribute:KEY}");
});

test("parity 054: the name stands in each line format", () => {
  const write = (format: "csv" | "json-lines" | "logstash" | "graphite") =>
    new TextDecoder().decode(formatFrame(bytes, format, nameBy("eu.{node}/{pod}")));
  for (const format of ["csv", "json-lines", "logstash"] as const) {
    expect(write(format)).toContain(`"namespace":"eu.node-a/${name}"`);
    expect(write(format)).not.toContain(`"shop/${name}"`);
  }
  expect(write("graphite").split("\n")[0]?.startsWith(`eu_node-a.${name}.`)).toBe(true);
});
