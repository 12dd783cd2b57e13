import type { Access, CrawlContext, Feature } from "@trawler/plugin-api";
import type { CrawlerInstance } from "./options.ts";

/**
 * The one place where a crawler's code is entered, with an access that holds exactly what it declared. A proxy of a
 * crawler that runs in a worker takes its place by being passed as `CallCrawler`; nothing else of the engine changes.
 */
export type CallCrawler = (
  crawler: CrawlerInstance,
  access: Partial<Access>,
  context: CrawlContext,
) => AsyncIterable<Feature>;

export const callInline: CallCrawler = ({ instance }, access, context) =>
  // Complete by construction: `targets.ts` leaves out a target that lacks a declared capability.
  instance.crawl(access as Access, context);
