import type { Access, CrawlContext, Feature } from "@trawler/plugin-api";
import type { CrawlerInstance } from "./options.ts";

/**
 * The one place where a crawler is entered, with an access that holds exactly what it declared. One that runs in a
 * thread of its own (`isolation/`) is an instance as any other.
 */
export type CallCrawler = (
  crawler: CrawlerInstance,
  access: Partial<Access>,
  context: CrawlContext,
) => AsyncIterable<Feature>;

export const callInline: CallCrawler = ({ instance }, access, context) =>
  // Complete by construction: `targets.ts` leaves out a target that lacks a declared capability.
  instance.crawl(access as Access, context);
