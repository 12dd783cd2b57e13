import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveSettings } from "../src/commands/provision/serve/settings.ts";
import { processWorld } from "../src/world.ts";
import { runMain } from "./in-process.ts";
import { startTrawl } from "./spawn.ts";

const EXAMPLE = fileURLToPath(new URL("../../../examples/provision.yaml", import.meta.url));
const HELLO = fileURLToPath(new URL("../../../examples/templates/hello.yaml", import.meta.url));
const TOKEN = "a-token-of-this-test-0123456789";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-serve-cli-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const provision = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runMain(["provision", ...args], env);

test("serve and apply have help with examples of it", async () => {
  const serve = await provision(["serve", "--help"]);
  expect([serve.code, serve.stdout]).toEqual([0, expect.stringContaining("trawl provision serve --token-file token")]);
  expect((await provision(["apply", "--help"])).stdout).toContain("--detach --server");
});

test("examples/provision.yaml is right; flags win over it; what is wrong is told with its place", async () => {
  const world = { ...processWorld(), env: {} };
  const settings = await serveSettings({ config: EXAMPLE, port: "0", catalog: "007" }, world);
  expect(settings).toMatchObject({
    http: { address: "127.0.0.1", port: 0 },
    token: { file: "/etc/trawler/provision/token" },
    catalogue: "007",
    inlineTemplates: false,
    notify: { webhook: { url: "https://hooks.example.test/trawler" } },
    requestTimeout: 30_000,
  });
  const wrong = file("wrong.yaml", "http:\n  tokenFile: a\n  token: b\nnotify:\n  webhook: { url: here }\nrun: {}\n");
  const ended = await provision(["serve", "--config", wrong]);
  expect(ended.code).toBe(2);
  for (const part of ["set one of tokenFile and token", "wrong.yaml:5", "did you mean runs"]) {
    expect(ended.stderr).toContain(part);
  }
});

test("serve refuses to be open to all, exit 2", async () => {
  const kubeconfig = file("kubeconfig", KUBECONFIG);
  const base = ["serve", "--kubeconfig", kubeconfig, "--state", join(folder, "none"), "--log-level", "silent"];
  for (const more of [[], ["--insecure-no-token", "--address", "0.0.0.0"], ["--token-file", file("short", "short")]]) {
    const ended = await provision([...base, ...more]);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(/token/)]);
    expect(ended.stderr).not.toContain("short short");
  }
});

test("a command that lacks a service, or has one too many, says so", async () => {
  const apply = ["apply", "-f", HELLO, "-n", "shop"];
  expect(await provision([...apply, "--detach"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no service/),
  });
  const told = await provision([...apply, "--server", "http://127.0.0.1:1", "--inventory", folder]);
  expect([told.code, told.stderr]).toEqual([2, expect.stringContaining("--inventory is for runs of this machine")]);
  const both = await provision(["list", "--server", "http://127.0.0.1:1", "--state", folder]);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("cannot be used with option '--state")]);
  const ask = [...apply, "--detach", "--rollback", "ask", "--server", "http://127.0.0.1:1"];
  expect((await provision(ask)).stderr).toContain("--rollback ask");
  // A folder that is named comes before a service of the environment.
  const local = await provision(["list", "--state", join(folder, "runs")], {
    TRAWLER_PROVISION_SERVER: "http://127.0.0.1:1",
  });
  expect([local.code, local.stdout]).toEqual([0, expect.stringMatching(/^INSTANCE/)]);
});

test("a service of its configuration's file alone, asked by commands with the same file; SIGTERM ends it with 0", async () => {
  const config = file(
    "provision.yaml",
    `http: { port: 0, token: "\${file:${file("token", TOKEN)}}" }\nstate: { folder: ${join(folder, "served")} }\napi: { kubeconfig: ${file("config", KUBECONFIG)} }\n`,
  );
  const served = startTrawl(["provision", "serve", "--config", config]);
  try {
    const url = await served.stderrMatch(/"url":"([^"]+)"/);
    const named = (line: readonly string[]) => provision([...line, "-c", config, "--server", url]);
    const list = await named(["list", "-o", "json"]);
    expect([list.code, list.stdout]).toEqual([0, "[]\n"]);
    const unknown = await named(["status", "01m8qpv3012davbr68mykrpn1d"]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("there is no instance")]);
    const plain = await provision(["list", "--server", url]);
    expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining("asks for a token")]);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain("trawler_provision_running 0");
    expect(metrics).toContain("process_cpu_seconds_total");
  } finally {
    served.child.kill("SIGTERM");
  }
  const { code, stderr } = await served.ended;
  expect(code).toBe(0);
  expect(stderr).not.toContain(TOKEN);
});

const KUBECONFIG = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
  users: [{ name: "u", user: { token: "t" } }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
});
