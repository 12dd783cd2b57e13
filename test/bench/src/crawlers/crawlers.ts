import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Access, CrawlerPlugin, EnvironmentPlugin, ModePlugin, Workload } from "@trawler/plugin-api";
import { kubectl, redisImage } from "@trawler/testbed";
import { fakeCrawlContext, fakeHost, fakeWorkload, parseSettings, silentLog } from "@trawler/testkit";
import { apply, NAMESPACE } from "../agent/load.ts";
import { node, waitFor } from "../agent/node.ts";
import { fixed, median } from "../agent/usage.ts";
import type { Benchmark, BenchmarkRow } from "../benchmark.ts";

const POD = "crawled";
const plugins = resolve(import.meta.dirname, "../../../../plugins");
const clock = { now: () => Date.now(), monotonic: () => performance.now() / 1000 };
const host = fakeHost({ clock });
/** µs: what an unchanged package database may cost. */
const UNCHANGED = 1_000;
/** ms: how long a heavy crawler may keep others waiting. */
const STRETCH = 50;

/** A plugin by its package's name; a bench must not depend on each of them. */
async function load<P>(name: string): Promise<P> {
  return ((await import(`@trawler/${name}`)) as { readonly default: P }).default;
}

async function crawlers(): Promise<readonly CrawlerPlugin[]> {
  const names = readdirSync(plugins).filter(
    (name) => existsSync(join(plugins, name, "src/index.ts")) && name.startsWith("crawler-"),
  );
  return Promise.all(names.map((name) => load<CrawlerPlugin>(name)));
}

/** One crawl as the host makes it, without what the host does with the features; answers how many there were. */
class Crawled {
  readonly plugin: CrawlerPlugin;
  readonly #instance: Awaited<ReturnType<CrawlerPlugin["create"]>>;
  readonly #state: Map<string, number> = new Map();
  #fingerprint: string | null = null;

  static async of(plugin: CrawlerPlugin, settings: object = {}): Promise<Crawled> {
    return new Crawled(plugin, await plugin.create(await parseSettings(plugin.config, settings), host));
  }

  private constructor(plugin: CrawlerPlugin, instance: Awaited<ReturnType<CrawlerPlugin["create"]>>) {
    this.plugin = plugin;
    this.#instance = instance;
  }

  async crawl(access: Access, signal: AbortSignal): Promise<number> {
    const before = this.#fingerprint;
    const context = fakeCrawlContext({
      signal,
      clock,
      state: this.#state,
      asked: this.plugin.match ? "match" : "always",
      fingerprint: before,
      unchanged: (text) => {
        this.#fingerprint = text;
        return text === before;
      },
    });
    let count = 0;
    try {
      for await (const _ of this.#instance.crawl(access, context)) count++;
    } catch {
      // Nothing here for it: what it costs to find that out is counted all the same.
    }
    return count;
  }
}

async function aPod(signal: AbortSignal): Promise<void> {
  const container = { name: "main", image: redisImage, imagePullPolicy: "Never", command: ["redis-server"] };
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  await apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: NAMESPACE, name: POD },
    spec: { terminationGracePeriodSeconds: 0, containers: [container] },
  });
  const ready = ["get", "pod", POD, "-n", NAMESPACE, "-o", "jsonpath={.status.phase}"];
  await waitFor(`pod ${POD} to run`, async () => (await kubectl(ready)).stdout === "Running", {
    signal,
    deadline: 120_000,
  });
}

/** The pod as the environment reports it. */
async function workloadOf(signal: AbortSignal): Promise<Workload> {
  const plugin = await load<EnvironmentPlugin>("environment-kubernetes");
  const { kubernetes } = node();
  const settings = await parseSettings(plugin.config, {
    sockets: [kubernetes.criSocket],
    kubeconfig: kubernetes.agentKubeconfig,
    kubelet: { root: kubernetes.kubeletRoot, podsApi: kubernetes.podsApiSocket },
  });
  const environment = await plugin.create(settings, host);
  const found = new AbortController();
  try {
    for await (const event of environment.discover({
      signal: AbortSignal.any([signal, found.signal]),
      log: silentLog,
    })) {
      if (
        "workload" in event &&
        event.workload.name === `${NAMESPACE}/${POD}` &&
        event.workload.containers[0]?.handle.pid
      ) {
        return event.workload;
      }
    }
    throw new Error(`the environment never reported pod ${POD}`);
  } finally {
    found.abort();
    await environment[Symbol.asyncDispose]?.();
  }
}

interface Cost {
  readonly name: string;
  readonly features: number;
  /** µs of CPU time. */
  readonly first: number;
  readonly again: readonly number[];
}

async function costOf(plugin: CrawlerPlugin, access: Access, rounds: number, signal: AbortSignal): Promise<Cost> {
  // The first of all compiles the code and loads what the crawler loads late.
  await (await Crawled.of(plugin)).crawl(access, signal);
  const crawled = await Crawled.of(plugin);
  let features = 0;
  const timed = async (): Promise<number> => {
    const before = process.cpuUsage();
    const count = await crawled.crawl(access, signal);
    const { user, system } = process.cpuUsage(before);
    features ||= count;
    signal.throwIfAborted();
    return user + system;
  };
  const first = await timed();
  const again: number[] = [];
  for (let round = 0; round < rounds; round++) again.push(await timed());
  return { name: plugin.name, features, first, again };
}

/** A root of many small files, a hundred in a folder. */
function largeRoot(files: number): string {
  const root = mkdtempSync(join(tmpdir(), "trawler-bench-root-"));
  for (let folder = 0; folder < files / 100; folder++) {
    const path = join(root, "etc", `d${folder % 100}`, `e${Math.floor(folder / 100)}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < 100; file++) writeFileSync(join(path, `f${file}.conf`), `key = ${file}\n`);
  }
  return root;
}

interface Stretch {
  readonly name: string;
  readonly features: number;
  /** s of time for one crawl. */
  readonly took: number;
  /** ms: the longest time that the event loop was held. */
  readonly longest: number;
}

async function stretchOf(plugin: CrawlerPlugin, root: string, signal: AbortSignal): Promise<Stretch> {
  const mode = await load<ModePlugin>("mode-mountpoint");
  const opened = await mode.create(await parseSettings(mode.config, { path: root }), host);
  const subject = await opened.open(fakeWorkload({ containers: [] }), { signal, log: silentLog });
  const settings = plugin.name === "config" ? { discover: true } : {};
  const delays = monitorEventLoopDelay({ resolution: 1 });
  try {
    const access = subject.access as Access;
    await (await Crawled.of(plugin, settings)).crawl(access, signal);
    const crawled = await Crawled.of(plugin, settings);
    const began = performance.now();
    delays.enable();
    const features = await crawled.crawl(access, signal);
    delays.disable();
    return {
      name: plugin.name,
      features,
      took: (performance.now() - began) / 1_000,
      longest: delays.max / 1e6,
    };
  } finally {
    await subject[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]?.();
  }
}

export const bench: Benchmark = {
  name: "crawlers",
  title: "What each crawler costs",
  async run({ log, quick, signal }) {
    const all = await crawlers();
    await aPod(signal);
    const mode = await load<ModePlugin>("mode-pod");
    const opened = await mode.create(await parseSettings(mode.config, {}), host);
    const subject = await opened.open(await workloadOf(signal), { signal, log: silentLog });
    const costs: Cost[] = [];
    try {
      const [member] = subject.members.values();
      if (member === undefined) throw new Error(`pod ${POD} has no container that runs`);
      for (const plugin of all) {
        const access = (plugin.scope === "subject" ? subject.access : member) as Access;
        if (plugin.needs.some((need) => access[need] === undefined)) continue;
        costs.push(await costOf(plugin, access, quick ? 5 : 50, signal));
      }
    } finally {
      await subject[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]?.();
    }
    const files = quick ? 5_000 : 100_000;
    const root = largeRoot(files);
    const stretches: Stretch[] = [];
    try {
      for (const plugin of all.filter(({ name }) => name === "file" || name === "config")) {
        stretches.push(await stretchOf(plugin, root, signal));
      }
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
    const again = (name: string): number =>
      median(costs.find((cost) => cost.name === name)?.again ?? [Number.POSITIVE_INFINITY]).middle;
    log(`an unchanged package database: ${fixed(again("package"), 0)} µs`);
    return {
      rows: [
        ...costs.map((cost) => rowOf(cost, cost.name === "package")),
        ...stretches.map(({ name, features, took, longest }) => ({
          what: `${name}, a root of ${files} files: longest stretch of the event loop (${features} features, ${fixed(took, 1)} s)`,
          figure: `${fixed(longest, 0)} ms`,
          budget: `≤ ${STRETCH} ms`,
          met: longest <= STRETCH,
        })),
      ],
      method:
        "CPU time of this process, user and system, for one crawl of one container (a pod of the redis image, Debian's files) with each crawler's default settings, without what the host does with the features: the first crawl of a new instance, and the median of those that follow, ± half the distance of the quartiles. Work that the container does to answer is not in it. The longest stretch is that of a timer of 1 ms (`monitorEventLoopDelay`).",
      raw: { costs, stretches },
    };
  },
};

function rowOf({ name, features, first, again }: Cost, unchanged: boolean): BenchmarkRow {
  const { middle, spread } = median(again);
  const row = {
    what: `${name} (${features} features)`,
    figure: `first ${fixed(first, 0)} µs, then ${fixed(middle, 0)} ± ${fixed(spread, 0)} µs`,
  };
  return unchanged ? { ...row, budget: `≤ ${UNCHANGED} µs unchanged`, met: middle <= UNCHANGED } : row;
}
