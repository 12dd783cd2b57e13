import type { CrawlerInstance, PipelineOptions } from "@trawler/engine";
import { type CrawlerPlugin, defineCrawler, type Feature, type FeatureSchemas } from "@trawler/plugin-api";
import {
  collectingEmitter,
  collectingLog,
  collectingMetrics,
  type FakeMode,
  fakeMode,
  fakeNode,
  scriptedEnvironment,
} from "@trawler/testkit";
import { expect } from "vitest";
import * as z from "zod";

/** A clock on Date and performance, which vitest can fake. */
export const testClock = { now: () => Date.now(), monotonic: () => performance.now() / 1000 };

const features: FeatureSchemas = { fact: z.strictObject({ value: z.unknown() }) };

type Overrides = Partial<Pick<CrawlerPlugin, "scope" | "needs" | "match" | "name" | "onChange">> &
  Partial<CrawlerInstance>;

/** A crawler whose `crawl` is written in the test. */
export function crawlerOf(
  crawl: (...args: Parameters<CrawlerInstance["instance"]["crawl"]>) => AsyncIterable<unknown>,
  { name = "probe", scope = "member", needs = [], match, onChange, ...instance }: Overrides = {},
): CrawlerInstance {
  const made: CrawlerInstance["instance"] = { crawl: (...args) => crawl(...args) as AsyncIterable<Feature> };
  const plugin: CrawlerPlugin = defineCrawler({
    name,
    description: "Probes.",
    config: z.strictObject({}),
    scope,
    needs,
    features,
    ...(match && { match }),
    ...(onChange && { onChange }),
    create: () => made,
  });
  return { id: name, plugin, instance: made, timeout: 5_000, named: false, ...instance };
}

export function fact(value: unknown, key = "fact"): unknown {
  return { type: "fact", key, value: { value } };
}

/** A pipeline of fakes: one crawler that yields the number of its call. */
export function pipelineOf({
  mode = fakeMode(),
  ...overrides
}: Partial<Omit<PipelineOptions, "mode">> & { readonly mode?: FakeMode } = {}) {
  const environment = scriptedEnvironment();
  const emitter = collectingEmitter();
  const metrics = collectingMetrics();
  const log = collectingLog();
  let calls = 0;
  const options = {
    id: "default",
    environment,
    mode,
    crawlers: [
      crawlerOf(async function* () {
        yield fact(++calls);
      }),
    ],
    emitters: [emitter],
    // No slot falls into a test by chance.
    every: 86_400,
    concurrency: 8,
    flushTimeout: 10,
    node: fakeNode,
    agent: { instance: "0193", version: "0.1.0" },
    clock: testClock,
    log,
    metrics,
    ...overrides,
  } satisfies PipelineOptions;
  return { environment, emitter, metrics, log, options };
}

export async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { interval: 5 }).toBe(true);
}
