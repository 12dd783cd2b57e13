import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { IsolatedCrawler } from "@trawler/engine";
import type { Access, CrawlContext, Feature } from "@trawler/plugin-api";
import { collectingLog, fakeClock, fakeHost, fakeWorkload, folderFs, silentLog } from "@trawler/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trawler-isolation-"));
});
afterEach(() => rm(folder, { recursive: true }));

const log = collectingLog();
const clock = fakeClock();

/** A crawler of a third party whose `crawl` is the given text; plain JavaScript, as a package would bring it. */
async function start(crawl: string, rest = ""): Promise<IsolatedCrawler> {
  const path = join(folder, "plugin.mjs");
  const instance = `{ async *crawl(access, context) { ${crawl} }, ${rest} }`;
  await writeFile(path, `export default { create(config, host) { const out = console; return ${instance}; } };`);
  const host = fakeHost({ id: "acme", log, clock });
  return IsolatedCrawler.start({ module: pathToFileURL(path).href, config: { greeting: "hello" }, host });
}

interface Asked {
  readonly features: Feature[];
  readonly problems: string[];
  readonly state: Map<string, number>;
  readonly error: unknown;
  /** What the host was asked about by `unchanged`. */
  readonly said: string[];
}

/** One call, as the engine makes it: it stops listening after `take` features, and `signal` is its deadline. */
async function ask(
  crawler: IsolatedCrawler,
  {
    access = {},
    take = 100,
    signal = new AbortController().signal,
    state = new Map<string, number>(),
    fingerprint = null,
  } = {} as {
    readonly access?: Partial<Access>;
    readonly take?: number;
    readonly signal?: AbortSignal;
    readonly state?: Map<string, number>;
    readonly fingerprint?: string | null;
  },
): Promise<Asked> {
  const features: Feature[] = [];
  const problems: string[] = [];
  const said: string[] = [];
  const context: CrawlContext = {
    signal,
    log: silentLog,
    clock,
    state,
    asked: "always",
    annotation: null,
    fingerprint,
    unchanged: (text) => {
      said.push(text);
      return text === fingerprint;
    },
    problem: (code, message) => problems.push(`${code} ${message}`),
  };
  try {
    for await (const feature of crawler.crawl(access, context)) {
      features.push(feature);
      if (features.length === take) break;
    }
    return { features, problems, state, said, error: null };
  } catch (error) {
    return { features, problems, state, said, error };
  }
}

test("parity N1: what it reads comes through the host; features, problems, state and log lines come back", async () => {
  await writeFile(join(folder, "motd"), "welcome\n");
  await using crawler = await start(`
    const text = await access.fs.readText("/motd", { signal: context.signal, maxBytes: 100 });
    const walked = [];
    for await (const batch of access.fs.walk("/")) walked.push(...batch.map(({ path }) => path));
    context.state.set("calls", (context.state.get("calls") ?? 0) + 1);
    context.problem("truncated", "only the first");
    context.log.info({ from: "thread" }, "read");
    yield { type: "motd", key: "motd", value: { text, walked, pod: access.meta.workload.name, cgroup: typeof access.cgroup } };
  `);
  const state = new Map([["calls", 1]]);
  const meta = { workload: fakeWorkload({ name: "shop/web" }), container: null };
  const answer = await ask(crawler, { access: { fs: folderFs(folder), meta }, state });
  expect(answer.error).toBeNull();
  expect(answer.features).toEqual([
    {
      type: "motd",
      key: "motd",
      value: { text: "welcome\n", walked: expect.arrayContaining(["/motd"]), pod: "shop/web", cgroup: "undefined" },
    },
  ]);
  expect(answer.problems).toEqual(["truncated only the first"]);
  expect(state.get("calls")).toBe(2);
  expect(log.lines).toContainEqual({ level: "info", fields: { from: "thread" }, message: "read" });
});

test("parity N2: an error of the host's keeps its code", async () => {
  await using crawler = await start(`
    try { await access.fs.readText("/none"); } catch (error) { yield { type: "x", key: error.code, value: {} }; }
    throw Object.assign(new Error("not here"), { code: "TRAWLER_UNSUPPORTED" });
  `);
  const { features, error } = await ask(crawler, { access: { fs: folderFs(folder) } });
  expect(features.map(({ key }) => key)).toEqual(["TRAWLER_UNSUPPORTED"]);
  expect(error).toMatchObject({ code: "TRAWLER_UNSUPPORTED", message: "not here" });
});

test("only what a capability has can be asked for", async () => {
  await using crawler = await start(`await access.fs.constructor("return process");`);
  expect((await ask(crawler, { access: { fs: folderFs(folder) } })).error).toMatchObject({
    code: "TRAWLER_PLUGIN_INVALID",
  });
});

test.each([
  ["spins without a pause", "for (;;);"],
  ["ends its process", "process.exit(3);"],
  ["takes all memory", "const kept = []; for (;;) kept.push(new Array(1e5).fill(kept.length));"],
  ["throws where nobody catches", "setTimeout(() => { throw new Error('late'); }); await new Promise(() => {});"],
])("a plugin that %s costs its own call, and the next call starts another thread", async (_, misdeed) => {
  await using crawler = await start(`
    if (context.state.get("behave") !== 1) { ${misdeed} }
    yield { type: "x", key: "x", value: {} };
  `);
  const deadline = new AbortController();
  setTimeout(() => deadline.abort(), 300);
  expect((await ask(crawler, { signal: deadline.signal })).error).toMatchObject({ code: "TRAWLER_PLUGIN_FAILED" });
  // It rests first: a plugin that always fails must not start thread after thread.
  const behave = new Map([["behave", 1]]);
  expect((await ask(crawler, { state: behave })).error).toMatchObject({ message: expect.stringMatching(/rests/) });
  clock.advance(60_000);
  expect((await ask(crawler, { state: behave })).features).toHaveLength(1);
});

test("a plugin that floods waits for the host", async () => {
  await using crawler = await start(`
    try { for (let n = 0; ; n++) { context.state.set("sent", n); yield { type: "x", key: String(n), value: {} }; } }
    finally { context.state.set("finally", 1); }
  `);
  const { features, state } = await ask(crawler, { take: 200 });
  expect(features.map(({ key }) => Number(key))).toEqual(Array.from({ length: 200 }, (_, index) => index));
  expect(state.get("sent")).toBeLessThan(200 + 2 * 64);
  expect(state.get("finally")).toBe(1);
});

test("what is no plain data is one clear error", async () => {
  await using crawler = await start(`yield { type: "x", key: "x", value: { run() {} } };`);
  expect((await ask(crawler)).error).toMatchObject({
    code: "TRAWLER_PLUGIN_FAILED",
    message: expect.stringMatching(/clone/),
  });
});

test("what a plugin prints goes to the log, not between the frames", async () => {
  await using crawler = await start(`out.log("chatter"); yield { type: "x", key: "x", value: {} };`);
  await ask(crawler);
  await expect.poll(() => log.lines.some(({ message }) => message === "chatter")).toBe(true);
});

test("a plugin that cannot be created is told with its code", async () => {
  const path = join(folder, "plugin.mjs");
  const refusal = `Object.assign(new Error("no licence"), { code: "TRAWLER_DENIED" })`;
  await writeFile(path, `export default { create() { throw ${refusal}; } };`);
  const started = IsolatedCrawler.start({
    module: pathToFileURL(path).href,
    config: {},
    host: fakeHost({ log, clock }),
  });
  await expect(started).rejects.toMatchObject({ code: "TRAWLER_DENIED", message: "no licence" });
});

test("it is closed with what it closes", async () => {
  const crawler = await start(
    "",
    `async [Symbol.asyncDispose]() { host.log.info({}, "closed by " + config.greeting); }`,
  );
  await crawler[Symbol.asyncDispose]();
  expect(log.lines).toContainEqual({ level: "info", fields: {}, message: "closed by hello" });
});

test("one that works by difference learns in its thread that nothing has changed, and the host that it asked", async () => {
  await using crawler = await start(`
    if (context.unchanged("size 7")) return;
    yield { type: "motd", key: "motd", value: {} };
  `);
  const first = await ask(crawler);
  expect([first.features.length, first.said]).toEqual([1, ["size 7"]]);
  const second = await ask(crawler, { fingerprint: "size 7" });
  expect([second.features.length, second.said]).toEqual([0, ["size 7"]]);
});
