import { crawlAlone, fakeContainer, fakeWorkload } from "@trawler/testkit";
import { expect, test } from "vitest";
import crawler from "../src/index.ts";
import { imageLabels, parseReference } from "../src/parse.ts";

const D = `sha256:${"a".repeat(64)}`;

test.each([
  ["registry.com:123/ric/img:latest", "registry.com:123", "ric/img", "ric", "img", "latest"],
  ["registry.com:123/img:latest", "registry.com:123", "img", null, "img", "latest"],
  ["img:latest", null, "img", null, "img", "latest"],
  // A user of a registry that is not written, and no registry.
  ["ric/img:1.0", null, "ric/img", "ric", "img", "1.0"],
  ["registry.com:123/a/b/img", "registry.com:123", "a/b/img", "a/b", "img", null],
  ["localhost/img", "localhost", "img", null, "img", null],
  ["registry/abc/def:latest", null, "registry/abc/def", "registry/abc", "def", "latest"],
  ["registry.k8s.io/pause:3.10", "registry.k8s.io", "pause", null, "pause", "3.10"],
  ["", null, null, null, null, null],
  [D, null, null, null, null, null],
] as const)("C3: the parts of %j", (reference, registry, repository, namespace, name, tag) => {
  expect(parseReference(reference)).toEqual({ registry, repository, namespace, name, tag, digest: null });
});

test("parity C3: a digest beside a tag, and instead of one", () => {
  expect(parseReference(`quay.io/a/b:1@${D}`)).toMatchObject({ registry: "quay.io", name: "b", tag: "1", digest: D });
  expect(parseReference(`a@${D}`)).toMatchObject({ name: "a", tag: null, digest: D });
});

test("noise is taken apart without an error", () => {
  for (const noise of ["/", "//", ":", "@", "a/", "/a", "x".repeat(100_000), "/".repeat(100_000)]) {
    expect(Object.keys(parseReference(noise))).toHaveLength(6);
  }
});

test("only what an image says about itself is one of its labels", () => {
  const labels = { "org.opencontainers.image.version": "1", team: "x", "org.label-schema.name": "n", constructor: "c" };
  expect(imageLabels(labels)).toEqual(["org.label-schema.name=n", "org.opencontainers.image.version=1"]);
});

test("parity C2: the image is that of the container, whatever else its pod runs", async () => {
  const container = fakeContainer({ image: `quay.io/a/b:1@${D}`, digest: null });
  const workload = fakeWorkload({
    containers: [fakeContainer(), container],
    labels: { "org.label-schema.name": "pod" },
  });
  const { features } = await crawlAlone(crawler, { access: { meta: { workload, container } } });
  expect(features).toMatchObject([{ value: { name: "b", namespace: "a", digest: D, labels: [] } }]);
});
