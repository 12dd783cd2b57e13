import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runMain } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "trawler-diff-"));
afterAll(() => rmSync(folder, { recursive: true }));

const feature = (type: string, key: string, value: object) => ({ type, key, value });
const frame = (name: string, features: readonly object[], labels: object = {}) => ({
  schema: "trawler.frame/1",
  resource: { "k8s.namespace.name": "shop", "k8s.pod.name": name, "k8s.pod.uid": name },
  labels,
  annotations: {},
  features: [],
  containers: [{ name: "web", image: "shop/web:1", features }],
});

function file(name: string, frames: readonly object[]): string {
  const path = join(folder, name);
  writeFileSync(path, frames.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return path;
}

const openssl = (version: string) => feature("package", "openssl", { name: "openssl", version, "package.size": 5 });
const before = file("before", [
  frame("cart-0", [openssl("3.0.1"), feature("cpu", "cpu", { "cpu.time": 1 })], { app: "cart" }),
  frame("gone", []),
]);
const after = file("after", [
  frame("cart-0", [
    openssl("3.0.2"),
    feature("cpu", "cpu", { "cpu.time": 2 }),
    feature("package", "curl", { version: "8" }),
  ]),
  frame("new", []),
]);

test("says what was added, removed and changed, by subject, container and key; figures only where they are asked for", async () => {
  const { code, stdout } = await runMain(["diff", before, after]);
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n")).toEqual([
    "- shop/cart-0  label app  cart",
    '+ shop/cart-0  web: package curl  version="8"',
    '~ shop/cart-0  web: package openssl  name="openssl" version="3.0.1" → name="openssl" version="3.0.2"',
    "- shop/gone",
    "+ shop/new",
  ]);
  expect((await runMain(["diff", before, after, "--figures"])).stdout).toContain("web: cpu  cpu.time=1 → cpu.time=2");
});

test("is JSON where it is asked for, and tells by its exit code", async () => {
  const { code, stdout } = await runMain(["diff", before, after, "--json", "--exit-code"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout.split("\n")[0] ?? "")).toEqual({
    kind: "removed",
    subject: "shop/cart-0",
    what: "label app",
    before: "cart",
    after: null,
  });
  expect(await runMain(["diff", before, before, "--exit-code"])).toMatchObject({ code: 0, stderr: "no difference\n" });
});

test("what is no frame is named with its line, and a file that cannot be read with what to do", async () => {
  const wrong = file("wrong", [frame("a", []), { schema: "other" }]);
  const { code, stderr } = await runMain(["diff", before, wrong]);
  expect(code).toBe(2);
  expect(stderr).toContain(`${wrong}:2: no frame`);
  const none = join(folder, "none");
  expect((await runMain(["diff", before, none])).stderr).toMatch(
    /none: ENOENT.*; name a file of frames that can be read/,
  );
  writeFileSync(join(folder, "text"), "garbage\n");
  const { stderr: text } = await runMain(["diff", before, join(folder, "text")]);
  expect(text).toMatch(
    /text:1: no frame of trawler.frame\/1: files of `trawl once` hold one a line \(.*not valid JSON\)/,
  );
});
