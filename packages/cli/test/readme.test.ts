import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { trawl } from "./spawn.ts";

const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
const modules = new URL("../../../node_modules", import.meta.url).pathname;

/** The first code block of the README that holds `mark`. */
function block(mark: string): string {
  const found = [...readme.matchAll(/```[a-z]*\n([\s\S]*?)```/g)]
    .map(([, code]) => code ?? "")
    .find((code) => code.includes(mark));
  if (found === undefined) throw new Error(`the README has no code block with ${mark}`);
  return found;
}

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-readme-"));
  const plugin = join(folder, "node_modules", "trawler-crawler-motd");
  mkdirSync(plugin, { recursive: true });
  symlinkSync(join(modules, "@trawler"), join(folder, "node_modules", "@trawler"));
  symlinkSync(join(modules, "zod"), join(folder, "node_modules", "zod"));
  writeFileSync(join(plugin, "index.js"), block("defineCrawler"));
  writeFileSync(join(plugin, "package.json"), block('"trawler-crawler-motd"'));
  const root = join(folder, "host");
  mkdirSync(join(root, "etc"), { recursive: true });
  writeFileSync(join(root, "etc", "motd"), "Hello, sailor\n");
  writeFileSync(
    join(folder, "trawler.yaml"),
    [
      'plugins: ["trawler-crawler-motd"]',
      `host: { root: ${root} }`,
      `state: { folder: ${join(folder, "state")} }`,
      "pipelines: { default: { environment: { host: {} }, mode: { host: {} }, crawlers: { motd: {} }, emitters: { stdout: {} } } }",
    ].join("\n"),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the README's plugin loads by name from a folder of its own and crawls", async () => {
  const { code, stdout, stderr } = await trawl(["once", "--config", join(folder, "trawler.yaml")]);
  expect(code, stderr).toBe(0);
  const frame = JSON.parse(stdout) as { features: unknown[] };
  expect(frame.features).toEqual([{ type: "motd", key: "motd", value: { text: "Hello, sailor" } }]);
});

test("the README's plugin is 20 lines", () => {
  const lines = block("defineCrawler").trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(21);
});
