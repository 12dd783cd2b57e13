import { expect, test } from "vitest";
import { parseImage } from "../src/image.ts";

const HEX = "d".repeat(64);
const DIGEST = `sha256:${HEX}`;

test.each([
  ["redis", "redis", null, null],
  ["registry.example.test:5000/shop/redis", "registry.example.test:5000/shop/redis", null, null],
  ["registry.example.test:5000/redis:7.0", "registry.example.test:5000/redis", "7.0", null],
  [`redis:7@${DIGEST}`, "redis", "7", DIGEST],
  [`redis@${DIGEST}`, "redis", null, DIGEST],
  ["redis@sha256:short", "redis", null, null],
  ["redis:", "redis", null, null],
  ["", null, null, null],
  [DIGEST, null, null, null],
  [HEX, null, null, null],
])("%s", (image, name, tag, digest) => {
  expect(parseImage(image)).toEqual({ name, tag, digest });
});
