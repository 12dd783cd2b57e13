import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Running, startTrawl, trawl } from "./spawn.ts";

// Processes are started, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 60_000 });
let folder = "";
const children: Running[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-run-"));
});
afterAll(async () => {
  for (const { child } of children) child.kill("SIGKILL");
  await Promise.all(children.map(({ ended }) => ended));
  rmSync(folder, { recursive: true, force: true });
});

let states = 0;
const start = (state: string, ...more: readonly string[]): Running => {
  const settings = [
    "http.port=0",
    `state.folder=${state}`,
    "pipelines.default.environment.host=",
    "pipelines.default.every=1s",
  ];
  const running = startTrawl(["run", ...settings.flatMap((text) => ["--set", text]), ...more]);
  children.push(running);
  return running;
};
const newState = (): string => join(folder, `state-${states++}`);
const portOf = (running: Running): Promise<string> => running.stderrMatch(/"health":"(http:\/\/[^ ]+) /);
const get = async (url: string): Promise<{ status: number; text: string }> => {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
};
async function until<T>(look: () => Promise<T>, good: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look();
    if (good(value)) return value;
    await delay(50);
  }
}

describe("run", () => {
  test("prints the plan, gets ready, shows metrics, answers on its socket, and a signal ends it with 0", async () => {
    const state = newState();
    const running = start(state);
    const base = await portOf(running);
    expect(await get(`${base}/healthz`)).toEqual({ status: 200, text: "ok\n" });
    expect(
      await until(
        () => get(`${base}/readyz`),
        ({ status }) => status === 200,
      ),
    ).toEqual({ status: 200, text: "ready\n" });
    expect((await get(`${base}/v1/frames`)).status).toBe(404);

    const frame: { kind: string } = JSON.parse(await running.stdoutMatch(/^(\{.*\})\n/));
    expect(frame.kind).toBe("host");
    const { text } = await until(
      () => get(`${base}/metrics`),
      (metrics) => /trawler_frames_total\{.*\} \d/.test(metrics.text),
    );
    expect(text).toMatch(/trawler_crawl_duration_seconds_count\{crawler="cpu"\} \d/);
    expect(text).toMatch(/trawler_frames_total\{reason="started",emitter="stdout",result="sent"\} 1/);
    expect(text).toMatch(/# TYPE trawler_problems_total counter/);
    expect(text).toMatch(/# TYPE trawler_frames_lost_total counter/);

    const socket = await running.stderrMatch(/"socket":"([^"]+)"/);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(await firstLine(socket, "/v1/frames")).toMatchObject({ schema: "trawler.frame/1", kind: "host" });

    running.child.kill("SIGTERM");
    const { code, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/"frames":\d+.*"lost":0.*"msg":"stopped"/);
    expect(existsSync(join(state, "trawl.lock"))).toBe(false);
  });

  test("explain asks the agent that runs", async () => {
    const state = newState();
    const running = start(state);
    const frame: { resource: Record<string, string> } = JSON.parse(await running.stdoutMatch(/^(\{.*\})\n/));
    const socket = await running.stderrMatch(/"socket":"([^"]+)"/);
    const host = frame.resource["host.name"] ?? "";
    const answer = await fetchSocket(socket, `/v1/explain?pod=${encodeURIComponent(host)}`);
    expect(JSON.parse(answer)).toMatchObject([{ pipeline: "default", kind: "host", skipped: null }]);
    if (socket.startsWith(state)) {
      const { code, stdout } = await trawl(["explain", "pod", host, "--set", `state.folder=${state}`]);
      expect(stdout).toMatch(/crawled +yes/);
      expect(code).toBe(0);
    }
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(0);
  });

  test("--once ends after one crawl, without a port, a lock or a socket", async () => {
    const state = newState();
    const running = start(state, "--once");
    const { code, stdout } = await running.ended;
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(existsSync(state)).toBe(false);
    expect(code).toBe(0);
  });

  test("a taken port is one clear error and 1", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const { code, stderr, stdout } = await start(newState(), "--set", `http.port=${port}`).ended;
    server.close();
    expect(stderr).toMatch(
      new RegExp(
        `127\\.0\\.0\\.1:${port} for health and metrics is taken: is another agent running\\?.*--set http\\.port`,
      ),
    );
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });

  test("a second agent on the same state is refused; the lock of a killed one is taken over", async () => {
    const state = newState();
    const first = start(state);
    await portOf(first);
    const second = await start(state).ended;
    expect(second.stderr).toMatch(/another agent \(process \d+\) holds the state folder .*--set state\.folder/);
    expect(second.code).toBe(1);
    first.child.kill("SIGKILL");
    await first.ended;
    expect(existsSync(join(state, "trawl.lock"))).toBe(true);
    const third = start(state);
    await portOf(third);
    expect(JSON.parse(readFileSync(join(state, "trawl.lock"), "utf8"))).toMatchObject({ pid: third.child.pid });
    third.child.kill("SIGTERM");
    expect((await third.ended).code).toBe(0);
  });

  test("an emitter that can't start ends the agent with its code, or is left out with onStartError: skip", async () => {
    writePackage("broken", 'throw new Error("no luck today");');
    const config = (policy: string): string => {
      const path = join(folder, `broken-${policy}.yaml`);
      writeFileSync(
        path,
        `plugins: [trawler-emitter-broken]\npipelines: { default: { environment: { host: }, every: 1s, emitters: { broken: { onStartError: ${policy} }, stdout: } } }\n`,
      );
      return path;
    };
    const failed = await start(newState(), "--config", config("retry")).ended;
    expect(failed.stderr).toMatch(/emitter broken cannot start: no luck today/);
    expect(failed.code).toBe(1);
    const skipped = start(newState(), "--config", config("skip"));
    await skipped.stdoutMatch(/"kind":"host"/);
    skipped.child.kill("SIGTERM");
    const { code, stderr } = await skipped.ended;
    expect(stderr).toMatch(/emitter broken cannot start: no luck today; it is left out/);
    expect(code).toBe(0);
  });

  test("a defect is logged with its code and ends the agent with 1", async () => {
    writePackage(
      "bomb",
      'setTimeout(() => { throw Object.assign(new Error("boom"), { code: "EBOOM" }); }, 10); return { write: async () => undefined };',
    );
    const path = join(folder, "bomb.yaml");
    writeFileSync(path, "plugins: [trawler-emitter-bomb]\npipelines: { default: { emitters: { bomb: } } }\n");
    const { code, stderr } = await start(newState(), "--config", path).ended;
    expect(stderr).toMatch(/"level":"fatal".*"code":"EBOOM","msg":"uncaught exception: .*boom/);
    expect(code).toBe(1);
  });
});

/** An emitter's package beside the configuration files, as a third party's: no library, no type, its own `create`. */
function writePackage(name: string, create: string): void {
  const path = join(folder, `node_modules/trawler-emitter-${name}`);
  mkdirSync(path, { recursive: true });
  const trawler = { plugins: [{ kind: "emitter", name, entry: "." }] };
  writeFileSync(
    join(path, "package.json"),
    JSON.stringify({
      name: `trawler-emitter-${name}`,
      version: "1.0.0",
      type: "module",
      exports: "./index.js",
      trawler,
    }),
  );
  // A schema of no library at all: the contract asks for Standard Schema only.
  writeFileSync(
    join(path, "index.js"),
    `const input = () => ({ type: "object", properties: {}, additionalProperties: false });
const config = { "~standard": { version: 1, vendor: "none", validate: (value) => ({ value }), jsonSchema: { input, output: input } } };
export default { api: 1, kind: "emitter", name: "${name}", description: "A third party's.", config, create() { ${create} } };\n`,
  );
}

function fetchSocket(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
    })
      .on("error", reject)
      .end();
  });
}

function firstLine(socketPath: string, path: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        const end = text.indexOf("\n");
        if (end < 0) return;
        outgoing.destroy();
        resolve(JSON.parse(text.slice(0, end)));
      });
      response.on("error", () => undefined);
    }).on("error", reject);
    outgoing.end();
  });
}
