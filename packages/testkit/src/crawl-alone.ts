import type { Access, CrawlContext, CrawlerPlugin, Feature } from "@trawler/plugin-api";
import { fakeCrawlContext } from "./fake-crawl-context.ts";
import { fakeHost } from "./fake-host.ts";
import { fakeWorkload } from "./fake-workload.ts";
import { hostileAccesses } from "./hostile.ts";
import { parseSettings } from "./settings.ts";

export interface CrawlAlone {
  readonly features: readonly Feature[];
  /** `code message`. */
  readonly problems: readonly string[];
}

export interface CrawlAloneOptions {
  readonly access: Partial<Access>;
  readonly config?: unknown;
  /** The clock, what is kept between crawls, a fingerprint. */
  readonly context?: Partial<CrawlContext>;
}

/** One call of a crawler, without the engine around it. Capabilities that are not given refuse. Throws what it throws. */
export async function crawlAlone(plugin: CrawlerPlugin, options: CrawlAloneOptions): Promise<CrawlAlone> {
  const { access, config = {}, context = {} } = options;
  const instance = await plugin.create(await parseSettings(plugin.config, config), fakeHost({ id: plugin.name }));
  const workload = fakeWorkload();
  const [absent] = hostileAccesses().filter(({ name }) => name === "absent");
  const whole = {
    ...absent?.access,
    meta: { workload, container: workload.containers[0] ?? null },
    ...access,
  } as Access;
  const features: Feature[] = [];
  const problems: string[] = [];
  const given = fakeCrawlContext({
    asked: plugin.match ? "match" : "always",
    problem: (code, message) => problems.push(`${code} ${message}`),
    ...context,
  });
  for await (const feature of instance.crawl(whole, given)) features.push(feature);
  return { features, problems };
}
