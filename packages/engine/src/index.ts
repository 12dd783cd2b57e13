export { type CallCrawler, callInline } from "./call.ts";
export { type CrawlerStatus, type CrawlResult, SubjectCrawler } from "./crawl.ts";
export type { Explanation } from "./explain.ts";
export { Guard } from "./guard.ts";
export { type LoadedPlugin, type LoadOptions, loadPackage, type ManifestEntry } from "./load.ts";
export { CrawlMemory } from "./memory.ts";
export type * from "./options.ts";
export { Pipeline } from "./pipeline.ts";
export { checkPlan } from "./plan.ts";
