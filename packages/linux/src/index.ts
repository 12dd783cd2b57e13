export * from "./cgroup/index.ts";
export * from "./files/index.ts";
export * from "./namespace/index.ts";
export * from "./network/index.ts";
export * from "./node/index.ts";
export * from "./own/index.ts";
export * from "./proc/index.ts";
