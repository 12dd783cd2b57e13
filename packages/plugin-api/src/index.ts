export type * from "./access.ts";
export type * from "./crawler.ts";
export * from "./define.ts";
export type * from "./emitter.ts";
export * from "./errors.ts";
export * from "./frame.ts";
export * from "./plugin.ts";
export type * from "./schema.ts";
export type * from "./workload.ts";
