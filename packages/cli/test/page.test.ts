import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { table } from "../src/page/table.ts";
import { showValue } from "../src/page/value.ts";
import { runMain } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "trawler-show-"));
afterAll(() => rmSync(folder, { recursive: true }));

const group = (source: string) => ({ source, observedAt: "2026-11-30T23:12:21.000Z" });
const packages = ["curl", "zlib1g", "adduser"].map((name) => ({
  type: "package",
  key: `${name}:amd64`,
  value: { manager: "dpkg", name, version: "1.0", size: 2048, source: null },
}));
const frame = {
  schema: "trawler.frame/1",
  sequence: 3,
  time: "2026-11-30T23:12:21.748Z",
  observedFor: 10,
  reason: "interval",
  final: false,
  kind: "pod",
  resource: { "k8s.namespace.name": "shop", "k8s.pod.name": "cart-0", "k8s.pod.ip": "10.88.0.10" },
  labels: { app: "cart" },
  annotations: { hostile: "a\u001b[31mred\u202e" },
  status: {
    phase: "Running",
    reason: null,
    qosClass: "Burstable",
    startTime: "2026-11-30T23:12:07Z",
    static: false,
    hostNetwork: false,
    conditions: [
      { type: "Initialized", status: "True", reason: null, since: null },
      { type: "Ready", status: "False", reason: null, since: null },
    ],
  },
  metadata: {
    complete: false,
    reason: "the API server is away",
    groups: { labels: group("cache"), identity: group("cri") },
  },
  features: [{ type: "memory", key: "memory", value: { "memory.usage": 5_545_984, "memory.limit": null } }],
  problems: [],
  containers: [
    {
      name: "redis",
      id: "5216affe",
      image: "redis:7.0",
      digest: null,
      type: "app",
      state: {
        status: "running",
        reason: null,
        startedAt: "2026-11-30T23:12:08Z",
        finishedAt: null,
        exitCode: null,
        restarts: 1,
        lastTermination: { reason: "OOMKilled", exitCode: 137, startedAt: null, finishedAt: null },
      },
      resource: {},
      resources: {
        cpu: { requestDesired: 0.01, requestCurrent: 0.01, limitDesired: null, limitCurrent: null },
        memory: { requestDesired: 16_777_216, requestCurrent: null, limitDesired: null, limitCurrent: null },
      },
      features: packages,
      problems: [{ crawler: "file", code: "denied", message: "no right to read" }],
      digests: {
        config: {
          types: ["config"],
          digest: "sha256:0",
          changed: false,
          included: false,
          observedAt: "2026-11-30T23:10:00Z",
        },
      },
    },
  ],
};
const file = join(folder, "frames.jsonl");
writeFileSync(file, `${JSON.stringify(frame)}\n`);

describe("trawl show", () => {
  test("a frame reads from top to bottom: who, how that is known, figures with units, tables, problems", async () => {
    const { code, stdout } = await runMain(["show", file]);
    expect(code).toBe(0);
    expect(stdout.split("\n").map((line) => line.replace(/ {2,}/g, "  "))).toEqual([
      "pod shop/cart-0",
      "  seen  2026-11-30T23:12:21.748Z, interval, frame 3",
      "  observed for  10 s",
      "  k8s.namespace.name  shop",
      "  k8s.pod.name  cart-0",
      "  k8s.pod.ip  10.88.0.10",
      "  labels  app=cart",
      "  annotations  hostile=a\\u001b[31mred\\u202e",
      "  status  Running, Burstable, since 2026-11-30T23:12:07Z",
      "  conditions  Initialized",
      "  not true  Ready False",
      "  known by  cache (labels), cri (identity)",
      "  incomplete  the API server is away",
      "  memory",
      "  usage  5.3 MiB",
      "  no value: limit",
      "",
      "container redis",
      "  state  running, since 2026-11-30T23:12:08Z, 1 restarts",
      "  before  OOMKilled, exit code 137",
      "  image  redis:7.0",
      "  id  5216affe",
      "  resources  cpu request 0.01 CPUs, no limit; memory request 16.0 MiB, no limit",
      "  package (3)",
      "  name  manager  version  size",
      "  adduser  dpkg  1.0  2.0 KiB",
      "  curl  dpkg  1.0  2.0 KiB",
      "  zlib1g  dpkg  1.0  2.0 KiB",
      "  config  as in an earlier frame, seen 2026-11-30T23:10:00Z",
      "  file: denied no right to read",
      "",
      "",
    ]);
  });

  test("long tables are cut to the rows asked for, and say how to see all", async () => {
    const { stdout } = await runMain(["show", "--rows", "2", file]);
    expect(stdout).toContain("… 1 more: --rows 3 shows all");
    expect(stdout).not.toContain("zlib1g");
  });

  test("meanings of fields are those of their schemas", async () => {
    const { stdout } = await runMain(["show", "--meanings", file]);
    expect(stdout).toMatch(/usage +5\.3 MiB +All memory charged/);
  });

  test("what is no frame is told with its line, an empty file as such", async () => {
    const bad = join(folder, "bad.jsonl");
    writeFileSync(bad, `${JSON.stringify(frame)}\n{}\n`);
    expect(await runMain(["show", bad])).toMatchObject({ code: 2, stderr: expect.stringContaining(`${bad}:2`) });
    const empty = join(folder, "empty.jsonl");
    writeFileSync(empty, "");
    expect(await runMain(["show", empty])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("holds no frame"),
    });
    expect(await runMain(["show", "--rows", "none", file])).toMatchObject({ code: 2 });
  });
});

test.each([
  [null, "By", "-"],
  [0, "By", "0 B"],
  [-2048, "By", "-2.0 KiB"],
  [1.5, "By/s", "2 B/s"],
  [0.123456, "s", "0.1235 s"],
  [0.34448143, "1", "0.3445"],
  [7, "{packet}", "7"],
  [0.5, "{request}/s", "0.5/s"],
  [2n ** 63n, null, "9223372036854775808"],
  [["a", "b", "c", "d", "e"], null, "a, b, c, … 2 more"],
  [[], null, "none"],
  [true, null, "yes"],
] as const)("%s in %s is shown as %s", (value, unit, text) => {
  expect(showValue(value, unit)).toBe(text);
});

test("a table that is too wide keeps its first column and leaves the widest of the others out", () => {
  const columns = [
    { heading: "path", cells: ["/a/long/path/of/a/file"] },
    { heading: "note", cells: ["x".repeat(60)] },
    { heading: "size", cells: ["5 B"] },
  ];
  expect(table(columns, 40)).toEqual({
    lines: ["path                    size", "/a/long/path/of/a/file  5 B"],
    left: ["note"],
  });
});
