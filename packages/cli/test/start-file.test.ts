import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { trawl } from "./spawn.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const OLD = `data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } });`;
// Processes are started, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });
let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "trawler-bundle-"));
  const { code, stderr } = await trawl([join(folder, "bundle")], {
    script: join(ROOT, "scripts/bundle.ts"),
    cwd: ROOT,
  });
  expect(code, stderr).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("on a Node that is too old it says which it needs, and how to get it", async () => {
  const { code, stderr } = await trawl(["--version"], { nodeArgs: ["--import", OLD], env: { TRAWLER_STARTED: "1" } });
  expect(stderr).toMatch(/trawl needs Node 24\.6 or newer; this is v.* at .*npm ci/s);
  expect(code).toBe(1);
});

test.skipIf(!existsSync(join(ROOT, "node_modules/node/bin/node")))(
  "on a Node that is too old it takes the one of the checkout and hands on arguments and exit code (skipped where npm ci has brought none)",
  async () => {
    expect(await trawl(["--version"], { nodeArgs: ["--import", OLD] })).toMatchObject({ code: 0, stdout: "0.1.0\n" });
    expect((await trawl(["nonsense"], { nodeArgs: ["--import", OLD] })).code).toBe(2);
  },
);

test("C154: the built bundle starts away from the repository, resolves its container and crawls", async () => {
  const script = join(folder, "bundle/trawl.js");
  expect(await trawl(["--version"], { script, cwd: folder })).toMatchObject({ code: 0, stdout: "0.1.0\n" });
  const { code, stdout, stderr } = await trawl(["once", "--environment", "host", "--crawlers", "cpu,memory,os"], {
    script,
    cwd: folder,
  });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({ schema: "trawler.frame/1", kind: "host" });
  expect(code).toBe(0);
});

test("C154: every built-in plugin loads from the bundle", async () => {
  const { code, stdout } = await trawl(["schema", "config"], { script: join(folder, "bundle/trawl.js"), cwd: folder });
  const { $defs }: { $defs: Record<string, unknown> } = JSON.parse(stdout);
  expect(Object.keys($defs)).toEqual(expect.arrayContaining(["environment.docker", "crawler.redis", "emitter.kafka"]));
  expect(code).toBe(0);
});

test.each(["kubernetes", "docker"])(
  "C154: environment %s looks around from the bundle and misses no module",
  async (name) => {
    const args = ["check", "--set", `pipelines.default.environment.${name}=`];
    const { code, stdout } = await trawl(args, { script: join(folder, "bundle/trawl.js"), cwd: folder });
    expect(stdout).toMatch(new RegExp(`environment +${name}`));
    expect(stdout).not.toMatch(/not defined|not a function|Cannot find/);
    expect(code).toBe(0);
  },
);
