import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CrawlerInstance, CrawlMemory, collect, Guard, SubjectCrawler, type TargetResult } from "@trawler/engine";
import {
  type Access,
  type Container,
  type Crawler,
  type CrawlerPlugin,
  errorCode,
  type Feature,
  type Workload,
} from "@trawler/plugin-api";
import { turnsOf } from "./answers.ts";
import type { Case } from "./case.ts";
import {
  type CgroupAnswers,
  type FsAnswers,
  fakeCgroup,
  fakeFs,
  fakeNet,
  fakeProc,
  type NetAnswers,
  type ProcAnswers,
} from "./fake-access.ts";
import { fakeCrawlContext } from "./fake-crawl-context.ts";
import { fakeClock, fakeHost, silentLog } from "./fake-host.ts";
import { fakeContainer, fakeWorkload } from "./fake-workload.ts";
import { checkFeature, checkSchemas } from "./features.ts";
import { folderFs } from "./folder-fs.ts";
import { caseNames, checkGolden, readJson } from "./golden.ts";
import { hostileAccesses, silentAccess } from "./hostile.ts";
import { commonCases, parseSettings, record } from "./settings.ts";

export interface CrawlerContractOptions {
  /** Folder of golden cases: `<case>/{access.json, rootfs/, config.json, workload.json, expected.json}`. */
  readonly testdata: URL;
  /** Settings to create it with where a case has none; default `{}`. */
  readonly config?: unknown;
  /** Changes the access of a case, for what files cannot hold: a server behind `net.connect`. */
  readonly access?: (caseName: string, access: Omit<Access, "meta">) => Omit<Access, "meta">;
}

/** `access.json`: answers in the contract's own types, each alone, `{ error }`, or `{ sequence }` of one per crawl. */
export interface AccessFile {
  /** What a folder cannot hold; files are those of `rootfs/`. */
  readonly fs?: FsAnswers;
  readonly proc?: ProcAnswers;
  readonly cgroup?: CgroupAnswers;
  readonly net?: NetAnswers;
}

/** The behaviour that every crawler must have. */
export function crawlerContract(plugin: CrawlerPlugin, options: CrawlerContractOptions): readonly Case[] {
  const settings = options.config ?? {};
  const create = async (config: unknown = settings): Promise<CrawlerInstance> => ({
    id: plugin.name,
    plugin,
    instance: await plugin.create(await parseSettings(plugin.config, config), fakeHost({ id: plugin.name })),
    timeout: 5000,
    named: true,
  });
  return [
    ...commonCases(plugin, settings),
    {
      name: "declares a flat feature schema with a unit for every number",
      run: async () => checkSchemas(plugin.features),
    },
    {
      name: "can be created twice and closed twice",
      async run() {
        const [one, two] = await Promise.all([create(), create()]);
        assert.notEqual(one.instance, two.instance);
        for (const { instance } of [one, one, two]) await instance[Symbol.asyncDispose]?.();
      },
    },
    {
      name: "stops soon after its signal aborts",
      async run() {
        const crawler = await create();
        const controller = new AbortController();
        const guard = new Guard(plugin.name);
        const call = guard.call("", 60_000, controller.signal, (signal) => drain(crawler, silentAccess(), signal));
        const settled = call.catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 10));
        controller.abort(new Error("stopped"));
        await settled;
        for (let waited = 0; guard.stuck > 0 && waited < 1000; waited += 10) {
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        assert.equal(guard.stuck, 0, "the crawler ignored its signal");
      },
    },
    ...hostileAccesses().map(({ name, access }) => ({
      name: `meets a target that is ${name} with coded errors only`,
      async run(): Promise<void> {
        const crawler = await create();
        const features: Feature[] = [];
        try {
          await drain(crawler, access, new AbortController().signal, features);
        } catch (error) {
          assert.match(errorCode(error) ?? String(error), /^TRAWLER_/, `threw ${error}`);
        }
        for (const feature of features) await checkFeature(plugin.features, feature);
      },
    })),
    {
      name: "matches every golden case, twice alike, with the capabilities that it declares",
      async run() {
        const folder = fileURLToPath(options.testdata);
        const used = new Set<string>();
        for (const name of await caseNames(folder)) {
          const path = join(folder, name);
          const crawler = await create(await readJson(join(path, "config.json"), settings));
          const first = (await crawlCase(crawler, path, name, options, used)).map(outcomeOf);
          const second = (await crawlCase(crawler, path, name, options, used)).map(outcomeOf);
          assert.deepEqual(first, second, `${name}: two crawls of the same target differ`);
          for (const { features } of first) {
            for (const feature of features) await checkFeature(plugin.features, feature);
          }
          await checkGolden(path, first.length === 1 ? first[0] : first);
        }
        assert.deepEqual([...used].sort(), [...plugin.needs].sort(), "capabilities used and declared differ");
      },
    },
    ...(plugin.onChange
      ? [
          {
            name: "says by difference that nothing has changed, and gives the same once it is due again",
            async run(): Promise<void> {
              const folder = fileURLToPath(options.testdata);
              for (const name of await caseNames(folder)) {
                const path = join(folder, name);
                const crawler = await create(await readJson(join(path, "config.json"), settings));
                const outcomes = await crawlCase(crawler, path, name, options, new Set(), [10, 86_400, 0]);
                if (outcomes.length === 3) checkDifference(name, outcomes);
              }
            },
          },
        ]
      : []),
  ];
}

/** What a golden file holds. */
function outcomeOf({ features, problems }: TargetResult): Pick<TargetResult, "features" | "problems"> {
  return { features, problems };
}

/** Three crawls of the same: at first sight, unchanged, and long after. */
function checkDifference(name: string, [first, second, third]: readonly TargetResult[]): void {
  if (first === undefined || first.features.length === 0) return;
  const digests = [first, second, third].map((one) => Object.values(one?.digests ?? {})[0]);
  assert.deepEqual(second?.features, [], `${name}: features stand in a second frame`);
  assert.deepEqual(third?.features, first.features, `${name}: features differ a day later`);
  assert.equal(new Set(digests.map((digest) => digest?.digest)).size, 1, `${name}: digests of the same differ`);
}

/** Crawls a case through the engine, ten seconds apart where its answers come in sequences, else after these `pauses`. */
async function crawlCase(
  crawler: CrawlerInstance,
  path: string,
  name: string,
  options: CrawlerContractOptions,
  used: Set<string>,
  pauses: readonly number[] = [10],
): Promise<readonly TargetResult[]> {
  const file = (await readJson(join(path, "access.json"), {})) as AccessFile;
  const clock = fakeClock();
  let turn = 0;
  const base = {
    fs: fakeFs(folderFs(join(path, "rootfs")), file.fs ?? {}, () => turn),
    proc: fakeProc(file.proc ?? {}, () => turn),
    cgroup: fakeCgroup(file.cgroup ?? {}, () => turn),
    net: fakeNet(file.net ?? {}, undefined, () => turn),
  };
  const access = options.access?.(name, base) ?? base;
  const { containers, ...over } = record(await readJson(join(path, "workload.json"), {}));
  const members = (Array.isArray(containers) ? containers : [{}]) as readonly Partial<Container>[];
  const workload = { ...fakeWorkload(over as Partial<Workload>), containers: members.map(fakeContainer) };
  // A golden case shows what the crawler reads; whether it is asked at all is the engine's part, so `match` is left out.
  const { match, ...always } = crawler.plugin;
  const instance: Crawler = {
    crawl: (picked, context) =>
      crawler.instance.crawl(watched(picked, used), {
        ...context,
        asked: context.annotation ? "annotation" : match ? "match" : "always",
      }),
  };
  const subject = new SubjectCrawler({
    crawlers: [{ ...crawler, plugin: always, instance }],
    hasMembers: false,
    clock,
    log: silentLog,
    metrics: { crawlDuration() {}, problem() {} },
    slot: 10,
  });
  const opened = { access, members: new Map(), update: async () => {}, [Symbol.asyncDispose]: async () => {} };
  const memory = new CrawlMemory();
  const outcomes: TargetResult[] = [];
  const turns = Math.max(...[file.fs, file.proc, file.cgroup, file.net].map((answers) => turnsOf(answers ?? {})));
  const waits = turns === 1 ? pauses : Array<number>(turns).fill(10);
  for (const wait of waits) {
    const { outcomes: found, problems } = await subject.crawl(workload, opened, memory, new AbortController().signal);
    const { problems: own, ...rest } = collect(found, "");
    outcomes.push({ ...rest, problems: [...problems, ...own] });
    clock.advance(wait * 1000);
    turn++;
  }
  return outcomes;
}

/** The same access, noting which of its capabilities are asked for. */
function watched(access: Partial<Access>, used: Set<string>): Access {
  const proxy = new Proxy(access, {
    get(target, property, receiver) {
      used.add(String(property));
      return Reflect.get(target, property, receiver);
    },
  });
  return proxy as Access;
}

async function drain(
  { instance, plugin }: CrawlerInstance,
  access: Omit<Access, "meta">,
  signal: AbortSignal,
  features: Feature[] = [],
): Promise<void> {
  const workload = fakeWorkload();
  const context = fakeCrawlContext({ signal, asked: plugin.match ? "match" : "always" });
  const meta = { workload, container: workload.containers[0] ?? null };
  for await (const feature of instance.crawl({ ...access, meta }, context)) {
    features.push(feature);
    assert.ok(features.length < 10_000, "yields without an end");
  }
}
