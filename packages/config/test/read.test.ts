import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode, errorMessage } from "@trawler/plugin-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Configuration, readConfiguration } from "../src/index.ts";
import { fakeCatalogue } from "./fakes.ts";

const ENV = { BROKERS: "a:9092, b:9092", SECRET: "hunter2-secret", EMPTY: "", ATTEMPTS: "3", BAD: "seven" };
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-config-"));
  writeFileSync(join(folder, "password"), "s3cret-pass\n");
  writeFileSync(join(folder, "short"), "abc\n");
  symlinkSync("/dev/zero", join(folder, "endless"));
  writeFileSync(join(folder, "huge"), Buffer.alloc(100_000, 97));
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (text: string, overrides: readonly string[] = [], catalogue = fakeCatalogue()): Promise<Configuration> =>
  readConfiguration({ file: join(folder, "trawl.yaml"), text, overrides, catalogue, env: ENV });
/** The lines of the one error, without the folder's name. */
const faults = async (text: string, overrides: readonly string[] = []): Promise<readonly string[]> => {
  const error = await read(text, overrides).catch((thrown: unknown) => thrown);
  expect(errorCode(error)).toBe("TRAWLER_CONFIG_INVALID");
  return errorMessage(error).replaceAll(`${folder}/`, "").split("\n");
};
const kafka = (settings: string): string =>
  `pipelines:\n  default:\n    emitters:\n      kafka/main:\n        ${settings}\n`;

describe("a valid configuration", () => {
  test("an empty file is all defaults and loads no plugin", async () => {
    const catalogue = fakeCatalogue();
    const configuration = await read("", [], catalogue);
    expect(configuration).toMatchObject({
      cluster: { name: "unknown" },
      http: { address: "127.0.0.1", port: 9467 },
      host: { root: "/", proc: "/proc", cgroup: "/sys/fs/cgroup" },
      log: { level: "info" },
      pipelines: [
        {
          id: "default",
          every: 10,
          timeout: 5000,
          concurrency: 8,
          queue: { bytes: 32 * 1024 ** 2, frames: 2000 },
          crawlers: null,
          environment: null,
        },
      ],
    });
    expect(catalogue.loaded).toEqual([]);
  });

  test("host settings beside a plugin's own are stripped before the plugin sees them", async () => {
    const configuration = await read(
      "pipelines: { default: { crawlers: { cpu: { every: 1m, refresh: 2h, timeout: 250ms, onStartError: skip, labels: [a] }, memory: } } }",
    );
    expect(configuration.pipelines[0]?.crawlers).toMatchObject([
      {
        id: "cpu",
        config: { labels: ["a"] },
        every: 60,
        refresh: 7200,
        timeout: 250,
        onStartError: "skip",
        named: true,
      },
      { id: "memory", config: { labels: [] }, onStartError: "retry" },
    ]);
    expect(configuration.pipelines[0]?.crawlers?.[0]?.config).toEqual({ labels: ["a"] });
  });

  test("a word that a plugin uses itself is the plugin's, not the host's", async () => {
    const configuration = await read("pipelines: { default: { crawlers: { nginx: { timeout: 1s, every: 1m } } } }");
    const [nginx] = configuration.pipelines[0]?.crawlers ?? [];
    expect(nginx).toMatchObject({ config: { timeout: "1s" }, every: 60 });
    expect(nginx?.timeout).toBeUndefined();
  });

  test("instances of one plugin differ by their label", async () => {
    const configuration = await read(
      "pipelines: { default: { emitters: { kafka/main: { brokers: ['a:1'] }, kafka/audit: { brokers: ['b:1'], topic: audit } } } }",
    );
    expect(configuration.pipelines[0]?.emitters?.map(({ id, config }) => [id, config])).toMatchObject([
      ["kafka/main", { brokers: ["a:1"], topic: "trawler.frames" }],
      ["kafka/audit", { brokers: ["b:1"], topic: "audit" }],
    ]);
  });

  test("C156: a list written as text is split at commas and trimmed", async () => {
    const configuration = await read('pipelines: { default: { crawlers: { cpu: { labels: "a.b/c, d.e/f" } } } }');
    expect(configuration.pipelines[0]?.crawlers?.[0]?.config).toEqual({ labels: ["a.b/c", "d.e/f"] });
  });

  test("environment variables and secret files are put into values, and take the type that is asked for", async () => {
    const configuration = await read(
      kafka(
        `{ brokers: "\${env:BROKERS}", topic: "t-\${env:NONE:-x}\${env:EMPTY:-y}", attempts: "\${env:ATTEMPTS}", sasl: { user: "$\${u}", password: "\${file:password}" } }`,
      ),
    );
    expect(configuration.pipelines[0]?.emitters?.[0]?.config).toMatchObject({
      brokers: ["a:9092", "b:9092"],
      topic: "t-xy",
      attempts: 3,
      sasl: { user: "${u}", password: "s3cret-pass" },
    });
  });

  test("overrides come before validation, later ones win, and make what is missing", async () => {
    const configuration = await read("pipelines: { default: { every: 10s } }", [
      "pipelines.default.every=30s",
      "pipelines.default.every=1m",
      "pipelines.default.emitters.kafka/main.brokers=[x:1, y:2]",
      'pipelines.default.emitters."kafka/main".brokers[1]=z:3',
      "http.port=0",
    ]);
    expect(configuration.http.port).toBe(0);
    expect(configuration.pipelines[0]).toMatchObject({
      every: 60,
      emitters: [{ config: { brokers: ["x:1", "z:3"] } }],
    });
  });

  test("a third party's package makes its plugins known", async () => {
    const configuration = await read('plugins: ["@acme/motd"]\npipelines: { default: { crawlers: { motd: {} } } }');
    expect(configuration.pipelines[0]?.crawlers?.[0]?.id).toBe("motd");
  });

  test("only the plugins that are named are loaded", async () => {
    const catalogue = fakeCatalogue();
    await read("pipelines: { default: { crawlers: { cpu: {} } }, other: { crawlers: { cpu: {} } } }", [], catalogue);
    expect(catalogue.loaded).toEqual(["crawler.cpu"]);
  });
});

const CASES: readonly (readonly [name: string, text: string, ...expected: string[]])[] = [
  [
    "unknown key at the top",
    "pipeline: {}",
    "trawl.yaml:1:1: pipeline: unknown key, expected one of cluster, node, attributes, host, http, state, log, plugins, pipelines; did you mean pipelines?",
  ],
  [
    "unknown key of a plugin",
    kafka("{ brokers: ['a:1'], topik: x }"),
    "trawl.yaml:5:29: pipelines.default.emitters.kafka/main.topik: unknown key, expected one of brokers, topic, createTopic, compression, attempts, sasl, onStartError; did you mean topic?",
  ],
  [
    "unknown key that resembles nothing",
    kafka("{ brokers: ['a:1'], zzzzzzz: x }"),
    "trawl.yaml:5:29: pipelines.default.emitters.kafka/main.zzzzzzz: unknown key, expected one of brokers, topic, createTopic, compression, attempts, sasl, onStartError; remove it",
  ],
  [
    "unknown crawler",
    "pipelines: { default: { crawlers: { redes/x: {} } } }",
    "trawl.yaml:1:37: pipelines.default.crawlers.redes/x: unknown crawler, expected one of cpu, memory, redis, nginx; did you mean redis?",
  ],
  [
    "wrong type",
    kafka("{ brokers: ['a:1'], createTopic: maybe, attempts: many, topic: [] }"),
    'trawl.yaml:5:42: pipelines.default.emitters.kafka/main.createTopic: found the text "maybe", expected true or false; write for example createTopic: false',
    'trawl.yaml:5:59: pipelines.default.emitters.kafka/main.attempts: found the text "many", expected a whole number from 0 to 10; write for example attempts: 2',
    "trawl.yaml:5:72: pipelines.default.emitters.kafka/main.topic: found an empty list, expected a text that is not empty; write for example topic: trawler.frames",
  ],
  [
    "a choice that is none",
    kafka("{ brokers: ['a:1'], compression: bzip2 }"),
    'trawl.yaml:5:42: pipelines.default.emitters.kafka/main.compression: found the text "bzip2", expected one of none, gzip, zstd; write for example compression: gzip',
  ],
  [
    "missing brokers",
    kafka("topic: x"),
    'trawl.yaml:4:7: pipelines.default.emitters.kafka/main.brokers: missing, expected a list with at least one entry; add brokers: ["127.0.0.1:9092"]',
  ],
  [
    "a message that asks for something",
    "pipelines: { default: { crawlers: { redis: { labels: [set] } } } }",
    "trawl.yaml:1:54: pipelines.default.crawlers.redis.labels: found a list, expected a list; set none of them",
  ],
  [
    "an entry of a list",
    kafka("brokers: ['a:1', nonsense]"),
    'trawl.yaml:5:26: pipelines.default.emitters.kafka/main.brokers[1]: found the text "nonsense", expected host:port; correct it',
  ],
  [
    "a number where a duration belongs",
    "pipelines: { default: { every: 10 } }",
    "trawl.yaml:1:32: pipelines.default.every: found 10 (a number), expected a text such as 10s; write for example every: 10s",
  ],
  [
    "a duration that is too short",
    "pipelines: { default: { every: 250ms } }",
    'trawl.yaml:1:32: pipelines.default.every: found the text "250ms", expected a duration from 1s to 24h, such as 10s or 5m; write for example every: 10s',
  ],
  [
    "two environments",
    "pipelines: { default: { environment: { kubernetes: {}, kubernetes/x: {} } } }",
    "trawl.yaml:1:25: pipelines.default.environment: 2 of them: kubernetes, kubernetes/x, expected exactly one environment; make a second pipeline for the other",
    "trawl.yaml:1:56: pipelines.default.environment.kubernetes/x: unknown environment, expected one of kubernetes; did you mean kubernetes?",
  ],
  [
    "a secret file that is not there",
    kafka("{ brokers: ['a:1'], sasl: { user: u, password: \"${file:nowhere}\" } }"),
    "trawl.yaml:5:56: pipelines.default.emitters.kafka/main.sasl.password: the file nowhere cannot be read; it does not exist: create it or correct the path",
  ],
  [
    "a secret file that never ends",
    kafka("{ brokers: ['a:1'], topic: \"${file:endless}\" }"),
    "trawl.yaml:5:36: pipelines.default.emitters.kafka/main.topic: the file endless cannot be read; it is no regular file: name one",
  ],
  [
    "a secret file that is too large",
    kafka("{ brokers: ['a:1'], topic: \"${file:huge}\" }"),
    "trawl.yaml:5:36: pipelines.default.emitters.kafka/main.topic: the file huge cannot be read; it is larger than 65536 bytes: is it the right file?",
  ],
  [
    "an environment variable that is not set",
    kafka('{ brokers: "${env:NOPE}" }'),
    "trawl.yaml:5:20: pipelines.default.emitters.kafka/main.brokers: the environment variable NOPE is not set; set it, or give a default: ${env:NOPE:-value}",
  ],
  [
    "an unknown substitution",
    'cluster: { name: "${HOME}" }',
    "trawl.yaml:1:18: cluster.name: an unknown substitution, expected ${env:NAME}, ${env:NAME:-default} or ${file:/path}; write $${ where a literal ${ is meant",
  ],
  [
    "a substitution inside a key",
    '"${env:SECRET}": 1',
    "trawl.yaml:1:1: ${env:SECRET}: a substitution inside a key, expected a plain key; write the key out; only values are substituted",
  ],
  [
    "a package that is not installed",
    "plugins: [nope]",
    "trawl.yaml:1:11: plugins[0]: plugin package nope cannot be loaded: nope is not installed; install it next to the configuration file, or remove it",
  ],
  [
    "a list instead of a map",
    "- a",
    'trawl.yaml:1:1: the file holds a list, expected a map of settings; start with "pipelines:"',
  ],
  [
    "a duplicate key",
    "http: {}\nhttp: {}",
    "trawl.yaml:2:1: Map keys must be unique, expected YAML 1.2; correct the syntax there",
  ],
  ["a key of prototypes", "__proto__: { port: 1 }", "trawl.yaml:1:1: __proto__: this key is not allowed; remove it"],
  [
    "a key that is a map",
    "? { a: b }\n: c",
    "trawl.yaml:1:1: a key that is no text, expected a plain key; write the key as a word",
  ],
  [
    "a single value in place of a section",
    "http: 3",
    "trawl.yaml:1:7: http: found 3 (a number), expected a map of address, port; write for example http: {}",
  ],
];

describe("a wrong configuration says file, place, key, what was found, what is expected and how to mend it", () => {
  test.each(CASES)("%s", async (_name, text, ...expected) => {
    expect(await faults(text)).toEqual(expected);
  });

  test("all faults are told at once, in the order of the file", async () => {
    const lines = await faults(
      "htp: {}\ncluster: { name: 5 }\npipelines:\n  default:\n    every: 0s\n    crawlers: { cpus: {} }\n    emitters: { kafka: { topc: a, compression: 1 } }\n",
    );
    expect(lines.map((line) => line.split(": ").slice(0, 2).join(" "))).toEqual([
      "trawl.yaml:1:1 htp",
      "trawl.yaml:2:18 cluster.name",
      "trawl.yaml:5:12 pipelines.default.every",
      "trawl.yaml:6:17 pipelines.default.crawlers.cpus",
      "trawl.yaml:7:17 pipelines.default.emitters.kafka.brokers",
      "trawl.yaml:7:26 pipelines.default.emitters.kafka.topc",
      "trawl.yaml:7:48 pipelines.default.emitters.kafka.compression",
    ]);
  });

  test("no secret is printed, whether from a file, the environment or the configuration itself", async () => {
    const lines = await faults(
      kafka('{ brokers: [\'a:1\'], attempts: "${env:SECRET}", sasl: { user: u, password: "${file:short}" } }'),
    );
    const plain = await faults(kafka("{ brokers: ['a:1'], sasl: { user: u, password: xyz } }"));
    expect([...lines, ...plain].join("\n")).not.toMatch(/hunter2|abc|xyz/);
    expect(lines).toHaveLength(2);
    expect(plain[0]).toContain("found a value that is not shown");
  });

  test("an override is named as the place of its fault", async () => {
    expect(await faults("", ["http.port=ninety", "nothing", "http.prt=1"])).toEqual([
      '--set http.port: found the text "ninety", expected a whole number from 0 to 65535; write for example port: 9467',
      "--set http.prt: unknown key, expected one of address, port; did you mean port?",
      "--set nothing: no path=value, expected a path with dots and a value; write it as --set pipelines.default.every=30s",
    ]);
  });

  test("a file that is not there", async () => {
    const error = await readConfiguration({ file: "/nowhere/trawl.yaml", catalogue: fakeCatalogue(), env: {} }).catch(
      (e: unknown) => e,
    );
    expect(errorCode(error)).toBe("TRAWLER_CONFIG_INVALID");
    expect(errorMessage(error)).toBe(
      "/nowhere/trawl.yaml: the file cannot be read (ENOENT); name an existing file that this user may read with --config or TRAWLER_CONFIG",
    );
  });
});

describe("hostile files", () => {
  test("aliases that multiply end at a bound", async () => {
    const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i},`.repeat(9)}]`);
    const [line] = await faults(`l0: &l0 [x,x,x,x,x,x,x,x,x]\n${levels.join("\n")}`);
    expect(line).toMatch(/more than 20000 values/);
  });

  test("an alias to what holds it ends", async () => {
    expect((await faults("a: &a { b: *a }")).join("\n")).toMatch(/nested deeper|alias/);
  });

  test("a file of 10 MB is refused", async () => {
    expect((await faults(`# ${"x".repeat(10_000_000)}`))[0]).toMatch(/larger than 1048576 bytes/);
    const file = join(folder, "large.yaml");
    writeFileSync(file, `# ${"x".repeat(10_000_000)}`);
    const options = { file, catalogue: fakeCatalogue(), env: {} };
    await expect(readConfiguration(options)).rejects.toThrow(
      /cannot be read \(EFBIG\); it is larger than 1048576 bytes/,
    );
  });

  test("control characters can't forge a second line or reach the terminal", async () => {
    const lines = await faults('"a\\nb\\u001b[31m": 1');
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain("\u001b");
  });

  test("deep nesting and binary noise are faults, not crashes", async () => {
    expect(await faults(`a: ${"[".repeat(5000)}`)).not.toHaveLength(0);
    expect(await faults("\u0000\u0001\u0002: [")).not.toHaveLength(0);
  });
});
