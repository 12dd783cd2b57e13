import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPackage } from "@trawler/engine";
import { afterEach, beforeEach, expect, test } from "vitest";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trawler-load-"));
});
afterEach(() => rm(folder, { recursive: true }));

const entry = { kind: "crawler", name: "motd", entry: ".", stability: "beta" };
const code = `export default { kind: "crawler", name: "motd", api: 1, config: { "~standard": {} }, create() {} };`;

/** A package of a third party: plain JavaScript, beside the configuration file. */
async function install(manifest: object | null, source = code): Promise<string> {
  const path = join(folder, "node_modules", "@acme", "motd");
  await mkdir(path, { recursive: true });
  const base = { name: "@acme/motd", version: "1.2.3", type: "module", exports: { ".": { default: "./index.js" } } };
  await writeFile(join(path, "package.json"), JSON.stringify({ ...base, ...manifest }));
  await writeFile(join(path, "index.js"), source);
  return join(folder, "trawler.yaml");
}

test("loads a package by name from beside the configuration", async () => {
  const from = await install({ trawler: { plugins: [entry] } });
  const [loaded] = await loadPackage("@acme/motd", { from });
  expect(loaded).toMatchObject({
    package: "@acme/motd",
    version: "1.2.3",
    kind: "crawler",
    name: "motd",
    stability: "beta",
  });
  expect(loaded?.plugin.name).toBe("motd");
});

test.each<[string, object | null, string | undefined, RegExp]>([
  ["no manifest", null, "throw new Error('must not run')", /is no plugin/],
  [
    "an unknown kind",
    { trawler: { plugins: [{ ...entry, kind: "sink" }] } },
    undefined,
    /kind must be one of .* found sink/,
  ],
  [
    "another contract",
    { trawler: { plugins: [entry] } },
    code.replace("api: 1", "api: 2"),
    /contract 2; this host speaks 1/,
  ],
  [
    "another name",
    { trawler: { plugins: [entry] } },
    code.replace('"motd"', '"other"'),
    /manifest says crawler motd, its code crawler other/,
  ],
  ["code that throws", { trawler: { plugins: [entry] } }, "throw new Error('broken')", /cannot be loaded: broken/],
  ["no default export", { trawler: { plugins: [entry] } }, "export const x = 1;", /contract undefined/],
  ["a name twice", { trawler: { plugins: [entry, entry] } }, undefined, /one already/],
  ["an entry outside", { trawler: { plugins: [{ ...entry, entry: "/etc/x.js" }] } }, undefined, /must begin with/],
])("refuses %s with one sentence", async (_, manifest, source, message) => {
  const from = await install(manifest, source);
  const loading = loadPackage("@acme/motd", { from });
  await expect(loading).rejects.toMatchObject({ code: "TRAWLER_PLUGIN_INVALID" });
  await expect(loading).rejects.toThrow(message);
});

test("says so where the package is not installed, hangs at import, or is there already", async () => {
  const from = await install(
    { trawler: { plugins: [entry] } },
    "await new Promise(() => setTimeout(() => {}, 60_000).unref());",
  );
  await expect(loadPackage("@acme/none", { from })).rejects.toThrow(/not installed next to/);
  await expect(loadPackage("@acme/motd", { from, timeout: 20 })).rejects.toThrow(/longer than 20 ms/);
  await expect(loadPackage("@acme/motd", { from, taken: new Set(["crawler/motd"]) })).rejects.toThrow(/one already/);
});
