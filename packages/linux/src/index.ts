export * from "./cgroup/index.ts";
export * from "./network/index.ts";
export * from "./proc/index.ts";
