import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InventoryQuery, InventoryRecord } from "@trawler/inventory";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ago, clean, formatCsv, formatGaps, formatSkew, formatTable } from "../src/commands/inventory/format.ts";
import { unknownOf } from "../src/commands/inventory/known.ts";
import { queryOf } from "../src/commands/inventory/query.ts";
import { main } from "../src/main.ts";
import { PLAIN } from "../src/plan.ts";
import type { World } from "../src/world.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");

function record(over: Partial<InventoryRecord> = {}): InventoryRecord {
  const at = NOW - 60_000;
  return {
    cluster: "test",
    kind: "Pod",
    uid: "u1",
    epoch: 0,
    namespace: "shop",
    name: "nightly-x1",
    node: "node-a",
    owners: [{ kind: "Job", name: "nightly", uid: "j1" }],
    resourceVersion: "12",
    generation: 1,
    labels: {},
    annotations: {},
    phase: "Failed",
    reason: null,
    qosClass: null,
    serviceAccount: null,
    podIps: [],
    hostIps: [],
    resources: {},
    containers: [],
    exitCode: 3,
    createdAt: "2026-11-30T11:58:00Z",
    deletionTimestamp: null,
    deletionGraceSeconds: null,
    firstSeenAt: NOW - 120_000,
    lastSeenAt: at,
    end: { observedAt: at, evidence: "watch", finalState: "exact", notBefore: at, notAfter: at },
    used: { at: "2026-11-30T11:59:00Z", cpuSeconds: 2.014, memoryBytes: 13_000_000 },
    updates: 4,
    gaps: [],
    truncated: false,
    payload: null,
    ...over,
  };
}

const answer = (...records: InventoryRecord[]) => ({ records, complete: true, gaps: [], next: null, unknown: null });

describe("B43: the clock's skew", () => {
  test.each([
    [2_300, 200, "clock: 2.3 s behind the API server's (± 0.2 s)"],
    [-3_600_000, 505, "clock: 3600.0 s ahead of the API server's (± 0.5 s)"],
    [120, 505, "clock: that of the API server (± 0.5 s)"],
  ])("of %i ± %i ms is said so", (milliseconds, uncertainty, text) => {
    expect(formatSkew({ milliseconds, uncertainty })).toBe(text);
  });
});

describe("answers", () => {
  test("a table shows name, state, exit code, node, owner, last figures and how it is known to be gone", () => {
    const text = formatTable(answer(record()), NOW, PLAIN);
    expect(text).toMatch(
      /shop +nightly-x1 +Failed +3 +node-a +Job\/nightly +2.01s +12.4Mi +2m0s +1m0s +watch +u1\n1 record\n/,
    );
  });

  test("B25: an answer that meets a gap says that it may not be complete", () => {
    const gap = { id: 4, stream: "pods", kind: "Pod", reason: "expired", from: 0, to: 1, note: "" } as const;
    const text = formatTable(
      { ...answer(record()), complete: false, gaps: [{ ...gap, fromVersion: null, toVersion: null }] },
      NOW,
      PLAIN,
    );
    expect(text).toContain("complete: no, it meets 1 gap");
  });

  test("B25: what is not known yet is said, whether there were gaps or not", () => {
    const unknown = { kind: "Pod", from: NOW - 120_000, reason: "connection refused" };
    const text = formatTable({ ...answer(record()), complete: false, unknown }, NOW, PLAIN);
    expect(text).toContain("complete: no, what came in the last 2m0s is not known: connection refused\n");
    expect(formatGaps([], [unknown], NOW, PLAIN)).toBe(
      "No gaps that are over.\nPod: what came in the last 2m0s is not known: connection refused\n",
    );
    expect(formatGaps([], [], NOW, PLAIN)).toMatch(/^No gaps: everything/);
  });

  test.each([
    ["what exists now", {}, true],
    ["a time before", { between: [0, NOW - 121_000] }, false],
    ["a time that reaches into it", { between: [0, NOW - 119_000] }, true],
    ["another kind", { kind: "Node" }, false],
  ] as [string, Partial<InventoryQuery>, boolean][])("B25: of %s", (_, query, met) => {
    const unknown = { kind: "Pod", from: NOW - 120_000, reason: "away" };
    expect(unknownOf({ kind: "Pod", ...query }, [unknown], NOW)).toEqual(met ? unknown : null);
  });

  test("B23, B24: gaps are shown with what was found for each", () => {
    const gap = {
      stream: "pods",
      kind: "Pod",
      reason: "expired",
      from: 0,
      to: 5000,
      fromVersion: "7",
      toVersion: "9",
    } as const;
    const gaps = [
      { ...gap, id: 1, note: "forgotten" },
      { ...gap, id: 2, note: "forgotten; searched: unseen pods in Events: 1" },
      { ...gap, id: 3, note: "forgotten" },
    ];
    const text = formatGaps(gaps, [], NOW, PLAIN);
    expect(text).toMatch(/1 +pods +expired +\S+ +\S+ +5s +7 → 9\n/);
    expect(text.endsWith("1, 3: forgotten\n2: forgotten; searched: unseen pods in Events: 1\n")).toBe(true);
  });

  test("what strangers named cannot move the cursor, nor become a formula in a spreadsheet", () => {
    expect(clean("a\u001b[2Jb\u202e")).toBe("a [2Jb ");
    expect(formatTable(answer(record({ name: "x\u001b]0;y\u0007" })), NOW, PLAIN)).not.toContain("\u001b");
    expect(formatCsv(answer(record({ name: '=cmd|"x",1' })), NOW)).toContain(`"'=cmd|""x"",1"`);
  });

  test("spans have two units at most", () => {
    expect([3_000, 310_000, 7_380_000, 360_000_000].map(ago)).toEqual(["3s", "5m10s", "2h3m", "4d4h"]);
  });
});

describe("questions", () => {
  const common = { kind: "Pod", output: "table" } as const;

  test("times are given as such, as now, or as how long ago", () => {
    expect(queryOf({ ...common, at: "10m" }, NOW)).toEqual({ kind: "Pod", between: [NOW - 600_000, NOW - 600_000] });
    expect(queryOf({ ...common, between: ["2026-11-30T11:00:00Z", "now"] }, NOW).between).toEqual([
      NOW - 3_600_000,
      NOW,
    ]);
    expect(queryOf({ ...common, owner: "Job/nightly", deleted: true }, NOW)).toEqual({
      kind: "Pod",
      deleted: true,
      owner: { kind: "Job", name: "nightly" },
    });
  });

  test.each([
    [{ at: "yesterday" }, "is no time"],
    [{ between: ["now", "1h"] }, "the earlier one first"],
    [{ between: ["now"] }, "takes two times"],
    [{ at: "1h", between: ["2h", "1h"] }, "cannot be combined"],
    [{ owner: "nightly" }, "write KIND/NAME"],
    [{ limit: "0" }, "at least 1"],
  ])("%j is refused with what is right", (options, message) => {
    expect(() => queryOf({ ...common, ...options }, NOW)).toThrow(message);
  });
});

describe("command line", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "trawler-cli-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const trawl = async (...args: readonly string[]): Promise<{ code: number; out: string; err: string }> => {
    const out: string[] = [];
    const err: string[] = [];
    const output = (to: string[]) => ({
      terminal: false,
      colours: false,
      columns: 120,
      write: async (text: string) => void to.push(text),
    });
    const world: World = {
      env: {},
      userId: 1000,
      clock: { now: () => NOW, monotonic: () => 0 },
      stdout: output(out),
      stderr: output(err),
    };
    const code = await main(args, world);
    return { code, out: out.join(""), err: err.join("") };
  };

  test.each(["run", "query", "show", "gaps", "changes", "status", "refresh", "role", "purge"])(
    "%s has help with examples",
    async (name) => {
      const { code, out } = await trawl("inventory", name, "--help");
      expect(code).toBe(0);
      expect(out).toContain(`Examples:\n  trawl inventory ${name}`);
    },
  );

  test("faults of the file name file, line, key, what belongs there and how to mend it; exit code 2", async () => {
    const file = join(folder, "wrong.yaml");
    writeFileSync(file, "writer: { every: 10 }\nkindz: []\nlease: { name: x }\nhttp: { port: 99999 }\n");
    const { code, err } = await trawl("inventory", "run", "--config", file);
    expect(code).toBe(2);
    expect(err).toContain(`${file}:1:18: writer.every: found 10 (a number), expected`);
    expect(err).toContain("kindz: unknown key");
    expect(err).toContain("did you mean kinds?");
    expect(err).toMatch(/lease\.namespace: missing/);
    expect(err).toContain("http.port: found 99999");
  });

  test("the example file is right", async () => {
    const example = new URL("../../../examples/inventory.yaml", import.meta.url).pathname;
    const { code, err } = await trawl("inventory", "run", "--config", example);
    // It is read without a fault: what is missing is a cluster to run in.
    expect(err).toContain("this process runs in no cluster");
    expect(code).toBe(2);
  });

  test("B53: the role that is printed is the one that is shipped", async () => {
    const example = new URL("../../../examples/inventory.yaml", import.meta.url).pathname;
    const shipped = readFileSync(new URL("../../../deploy/kustomize/inventory/rbac.yaml", import.meta.url), "utf8");
    const lease = ["--set", "lease.namespace=trawler"];
    const { code, out } = await trawl("inventory", "role", "--config", example, ...lease);
    expect(code).toBe(0);
    const rules = (text: string): readonly string[] => text.split("\n").filter((line) => line.startsWith("  - { api"));
    expect(rules(out)).toEqual(rules(shipped));
    expect(rules(out)).toHaveLength(6);
  });

  test("without a store the answer says how to get one; exit code 1", async () => {
    const { code, err } = await trawl("inventory", "query", "--set", `state.folder=${folder}/none`);
    expect(code).toBe(1);
    expect(err).toContain("start one with trawl inventory run");
  });

  test("PostgreSQL as the store: what is wrong is said with the address, never with the password; exit codes 1 and 2", async () => {
    const store = (...more: readonly string[]) => [
      "--set",
      "store.kind=postgresql",
      ...more.flatMap((one) => ["--set", one]),
    ];
    for (const command of [["query"], ["gaps"], ["status"], ["changes"], ["show", "u1"], ["purge", "--dry-run"]]) {
      const { code, err, out } = await trawl(
        "inventory",
        ...command,
        ...store("store.url=postgresql://reader:hunter2@127.0.0.1:1/db"),
      );
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toContain("postgresql://reader@127.0.0.1:1/db: connect ECONNREFUSED");
      expect(err).not.toContain("hunter2");
    }
    const wrong = await trawl("inventory", "query", ...store("store.url=mysql://reader:hunter2@127.0.0.1/db"));
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("is no PostgreSQL address") });
    expect(wrong.err).not.toContain("hunter2");
    expect(await trawl("inventory", "query", ...store())).toMatchObject({
      code: 2,
      err: expect.stringContaining("store.url: missing"),
    });
    const schema = await trawl("inventory", "query", ...store("store.url=postgresql://u@h/db", "store.schema=pg_x"));
    expect(schema).toMatchObject({ code: 2, err: expect.stringContaining("PostgreSQL's own") });
  });

  test("B39: a refresh of several objects asks for each once, tells of each, and fails where one could not be read", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? "/", "http://inventory");
      const [kind, namespace, name] = ["kind", "namespace", "name"].map((key) => searchParams.get(key));
      asked.push(`${request.method} ${kind} ${namespace} ${name}`);
      response.statusCode = name === "gone" ? 502 : 200;
      response.end(
        JSON.stringify(name === "gone" ? { message: "the API server has no gone" } : { uid: `uid-${name}` }),
      );
    });
    await new Promise<void>((resolve) => server.listen(join(folder, "inventory.sock"), resolve));
    const refresh = (...names: string[]) => trawl("inventory", "refresh", ...names, "--set", `state.folder=${folder}`);
    const some = await refresh("Pod/shop/a", "Pod/shop/gone", "Node/n");
    expect(some.code).toBe(1);
    expect(some.out.split("\n").map((line) => line.split(" ")[0])).toEqual(["uid-a", "uid-n", ""]);
    expect(some.err).toContain("the API server has no gone");
    expect(asked.sort()).toEqual(["POST Node null n", "POST Pod shop a", "POST Pod shop gone"]);
    // What cannot be a name is told before anything is asked.
    expect(await refresh("Pod/shop/a", "Pod")).toMatchObject({ code: 2, out: "" });
    expect(asked).toHaveLength(3);
    expect((await refresh(...Array.from({ length: 20 }, (_, index) => `Pod/shop/p${index}`))).code).toBe(0);
    expect(asked).toHaveLength(23);
    await new Promise((resolve) => server.close(resolve));
  });

  test("a refresh without a collector says so; a purge only counts", async () => {
    const refresh = await trawl("inventory", "refresh", "Pod/shop/a", "--set", `state.folder=${folder}`);
    expect(refresh).toMatchObject({ code: 1, err: expect.stringContaining("no collector runs") });
    const purge = await trawl("inventory", "purge", "--set", `state.folder=${folder}`);
    expect(purge).toMatchObject({ code: 2, err: expect.stringContaining("--dry-run") });
  });
});
