import { fakeEnvelope } from "@trawler/testkit";
import { expect, test } from "vitest";
import { frameLine } from "../src/text.ts";

const feature = (type: string, value: object, key = type) => ({ type, key, value });
const frame = {
  schema: "trawler.frame/1",
  time: "2026-11-30T21:20:05.000Z",
  reason: "started",
  kind: "pod",
  features: [
    feature("network", { "network.io.receive": 1000, "network.io.transmit": 10 }, "eth0"),
    feature("network", { "network.io.receive": 1072, "network.io.transmit": 10 }, "net1"),
  ],
  problems: [],
  containers: [
    {
      features: [feature("cpu", { "cpu.usage": 0.25 }), feature("memory", { "memory.working_set": 1_048_576 })],
      problems: [{ crawler: "redis", code: "denied", message: "no" }],
    },
    { features: [feature("cpu", { "cpu.usage": null })], problems: [] },
  ],
};

const line = (over: object, name = "shop/cart-0", colours = false): string =>
  frameLine(fakeEnvelope(0, { name, bytes: Buffer.from(JSON.stringify({ ...frame, ...over })) }), colours);

test("shows time, reason, kind, name, figures, containers and problems, without colours in a file", () => {
  expect(line({})).toBe(
    "21:20:05  started   pod        shop/cart-0                       cpu   0.250  mem   1.0 MiB  net   2.0 KiB in      20 B out   2 containers  1 problem",
  );
});

test("the pod's own figure counts, not the sum of its containers'", () => {
  expect(line({ features: [feature("cpu", { "cpu.usage": 1.5 })] })).toContain("cpu   1.500");
});

test("what was not measured is a dash", () => {
  expect(line({ features: [], containers: [], kind: "host" })).toMatch(/cpu {7}- {2}mem {9}- {2}net .* out$/);
});

test("colours stand only where they are asked for", () => {
  expect(line({}, "a", true)).toContain("\u001b[32mstarted");
  expect(line({})).not.toContain("\u001b");
});

test("a hostile name cannot steer the terminal or break the line", () => {
  const text = line({ kind: "pod\u009b" }, "a\u001b]0;x\u0007\r\nb\u202ec\u2028");
  expect(text).toContain("a\\u001b]0;x\\u0007\\u000d\\u000ab\\u202ec\\u2028");
  expect(text).toMatch(/^[\x20-\x7e]+$/);
  expect(line({}, "x".repeat(500)).length).toBeLessThan(250);
});

test("a part without containers or bytes that are no frame still make a line", () => {
  expect(frameLine(fakeEnvelope(0, { bytes: Buffer.from("no json") }), false)).toBe(
    "shop/cart-0 7 bytes that are no frame",
  );
});
