import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { frameJsonSchema } from "@trawler/plugin-api";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runMain } from "./in-process.ts";
import { trawl } from "./spawn.ts";

// Processes are started, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-cli-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const HOST = ["--environment", "host", "--mode", "host"];

test("the process ends with the code and the texts of the command", async () => {
  expect(await trawl(["rnu"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/unknown command 'rnu'/),
  });
  expect(await trawl(["--help"])).toMatchObject({
    code: 0,
    stderr: "",
    stdout: expect.stringMatching(/^Usage: trawl/),
  });
  const wrong = await trawl(["run", "--set", "htp.port=1"]);
  expect(wrong).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^trawl: --set htp\.port: .*did you mean http\?\n$/),
  });
});

describe("help and usage", () => {
  test.each([
    [],
    ["run"],
    ["once"],
    ["check"],
    ["plugins"],
    ["schema"],
    ["explain"],
    ["explain", "pod"],
    ["explain", "setting"],
  ])("trawl %s %s --help shows examples and ends with 0", async (...command) => {
    const { code, stdout, stderr } = await runMain([...command.filter((word) => word !== undefined), "--help"]);
    expect(stdout).toMatch(/^Usage: trawl/);
    expect(stdout).toMatch(/Examples:\n {2}trawl /);
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test.each([
    [["rnu"], /unknown command 'rnu'[\s\S]*run/],
    [["once", "--crawler", "cpu"], /unknown option '--crawler'[\s\S]*--crawlers/],
    [["run", "--log-level", "loud"], /Allowed choices are debug, info, warn, error, silent/],
    [["schema", "nothing"], /one of config, frame, features/],
    [["explain", "pod"], /missing required argument/],
    [["once", "--crawlers", "cpux", ...HOST], /unknown crawler cpux, expected one of os, cpu.*; did you mean cpu\?/],
    [
      ["once", "--environment", "hots"],
      /unknown environment hots, expected one of kubernetes, docker, host; did you mean host\?/,
    ],
    [["once", "--environment", "host", "--mode", "pod"], /mode pod accepts pod, but environment host reports host/],
    [["explain", "setting", "concurency"], /there is no setting concurency; did you mean concurrency\?/],
  ])("wrong usage %j ends with 2 and says what would be right", async (args, message) => {
    const { code, stdout, stderr } = await runMain(args);
    expect(stderr).toMatch(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

describe("a wrong configuration ends with 2 and one message that says file, key, expected and how to mend it", () => {
  test.each([
    [
      "unknown key",
      "pipelines: { default: { evry: 5s } }",
      /FILE:1:25: pipelines\.default\.evry: unknown key, expected one of .*; did you mean every\?/,
    ],
    [
      "wrong type",
      "http: { port: high }",
      /FILE:1:15: http\.port: found the text "high", expected a whole number from 0 to 65535; write for example port: 9467/,
    ],
    [
      "missing broker",
      "pipelines: { default: { emitters: { kafka/main: {} } } }",
      /FILE:1:37: pipelines\.default\.emitters\.kafka\/main\.brokers: missing, expected a list with at least one entry.*; add brokers: \[.*\]/,
    ],
    [
      "unreadable secret file",
      `pipelines: { default: { emitters: { kafka: { brokers: ["a:1"], topic: "\${file:/nowhere/secret}" } } } }`,
      /FILE:1:71: pipelines\.default\.emitters\.kafka\.topic: the file \/nowhere\/secret cannot be read; it does not exist: create it or correct the path/,
    ],
  ])("%s", async (name, text, message) => {
    const path = file(`${name.replaceAll(" ", "-")}.yaml`, text);
    for (const command of ["check", "once", "run"]) {
      const { code, stdout, stderr } = await runMain([command, "--config", path]);
      expect(stderr.replaceAll(path, "FILE")).toMatch(message);
      expect(stdout).toBe("");
      expect(code, command).toBe(2);
    }
  });

  test("a file that is not there", async () => {
    const { code, stderr } = await runMain(["check"], { TRAWLER_CONFIG: "/nowhere/trawl.yaml" });
    expect(stderr).toMatch(/\/nowhere\/trawl\.yaml: the file cannot be read \(ENOENT\); name an existing file/);
    expect(code).toBe(2);
  });
});

describe("once", () => {
  test("one frame of the host as a JSON line that validates, and nothing else on stdout", async () => {
    const { code, stdout, stderr } = await trawl(["once", ...HOST]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines, stderr).toHaveLength(1);
    const frame: unknown = JSON.parse(lines[0] ?? "");
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile({ ...frameJsonSchema() });
    expect(validate(frame), JSON.stringify(validate.errors)).toBe(true);
    expect(frame).toMatchObject({ schema: "trawler.frame/1", kind: "host", sequence: 1 });
    expect(code).toBe(0);
  });

  test("only the crawlers that are asked for, with those of the file where it has them", async () => {
    const path = file(
      "once.yaml",
      "pipelines: { default: { environment: { host: }, crawlers: { os: , cpu: }, emitters: { kafka: { brokers: ['127.0.0.1:1'] } } } }",
    );
    const { code, stdout } = await trawl(["once", "--config", path, "--crawlers", "memory, os"]);
    const frame: { features: { type: string }[] } = JSON.parse(stdout);
    expect(frame.features.map(({ type }) => type).sort()).toEqual(["memory", "os"]);
    expect(code).toBe(0);
  });

  test("parity C6: nothing of that name: 1 and a sentence", async () => {
    const { code, stdout, stderr } = await trawl(["once", ...HOST, "--pod", "shop/cart-0"]);
    expect(stderr).toMatch(/nothing could be crawled: no shop\/cart-0 is here/);
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });
});

describe("looking without running", () => {
  test.each(["kubernetes", "docker", "host"])("check accepts examples/%s.yaml", async (name) => {
    const path = fileURLToPath(new URL(`../../../examples/${name}.yaml`, import.meta.url));
    const { code, stdout, stderr } = await runMain(["check", "--config", path]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(new RegExp(`environment +${name}`));
    expect(code).toBe(0);
  });

  test.each([
    ["", "node-a"],
    ["node.name=node-b", "node-b"],
  ])("the node is NODE_NAME's unless the configuration names it (%j)", async (set, name) => {
    const args = ["check", "--set", "pipelines.default.environment.host=", ...(set === "" ? [] : ["--set", set])];
    const { stdout, stderr } = await runMain(args, { NODE_NAME: "node-a" });
    expect(stderr).toBe("");
    expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
  });

  test("check prints the plan: what loads, what matches, what is left out", async () => {
    const { code, stdout } = await runMain([
      "check",
      "--set",
      "pipelines.default.environment.host=",
      "--set",
      "pipelines.default.every=30s",
    ]);
    expect(stdout).toMatch(/pipeline default, every 30 s/);
    expect(stdout).toMatch(/environment +host/);
    expect(stdout).toMatch(/mode +host/);
    expect(stdout).toMatch(/crawlers +os cpu memory/);
    expect(stdout).toMatch(/redis {2}where image is redis/);
    expect(stdout).toMatch(/emitters +stdout/);
    expect(code).toBe(0);
  });

  test.each([
    ["", 300],
    ["30s", 30],
  ])("a crawler that is costly has a pace of its own, unless the settings say another (%j)", async (every, seconds) => {
    const file = every === "" ? [] : ["--set", `pipelines.default.crawlers.file.every=${every}`];
    const named = ["--set", "pipelines.default.crawlers.file.maxFiles=10", ...file];
    const { stdout, stderr } = await runMain(["check", "--set", "pipelines.default.environment.host=", ...named]);
    expect(stderr).toBe("");
    expect(stdout).toContain(`file (every ${seconds} s)`);
  });

  test("plugins --json lists each built-in plugin", async () => {
    const { code, stdout } = await runMain(["plugins", "--json"]);
    const plugins: { kind: string; name: string }[] = JSON.parse(stdout);
    expect(plugins.map(({ kind, name }) => `${kind}-${name}`)).toEqual(
      expect.arrayContaining(["environment-kubernetes", "mode-pod", "crawler-redis", "emitter-kafka"]),
    );
    expect(code).toBe(0);
  });

  test.each(["config", "frame"])("schema %s is a JSON Schema", async (what) => {
    const { code, stdout } = await runMain(["schema", what]);
    expect(() => new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(stdout))).not.toThrow();
    expect(code).toBe(0);
  });

  test("schema features has one JSON Schema for each type", async () => {
    const schemas: Record<string, object> = JSON.parse((await runMain(["schema", "features"])).stdout);
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(["cpu", "memory", "network", "process", "redis", "nginx"]),
    );
    for (const schema of Object.values(schemas))
      expect(() => new Ajv2020({ strict: false }).compile(schema)).not.toThrow();
  });

  test("explain setting says what it is, its default and whether it is required", async () => {
    const { code, stdout } = await runMain(["explain", "setting", "kafka.brokers"]);
    expect(stdout).toMatch(/pipelines\.default\.emitters\.kafka\.brokers\n {2}\S.*\n.*a list.*required/);
    expect((await runMain(["explain", "setting", "http.port"])).stdout).toMatch(/default +9467/);
    expect(code).toBe(0);
  });

  test("explain pod without an agent says so and ends with 1", async () => {
    // Where an agent of this machine answers on the common socket, it has not seen the pod: the same code.
    const { code, stderr } = await runMain(["explain", "pod", "no-such/pod", "--set", `state.folder=${folder}`]);
    expect(stderr).toMatch(/no agent answers: .*start one with trawl run|has seen no no-such\/pod/);
    expect(code).toBe(1);
  });
});
