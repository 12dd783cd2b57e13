export { type CallCrawler, callInline } from "./call.ts";
export { type CrawlerStatus, type CrawlResult, SubjectCrawler } from "./crawl.ts";
export { Guard } from "./guard.ts";
export { CrawlMemory } from "./memory.ts";
export type * from "./options.ts";
