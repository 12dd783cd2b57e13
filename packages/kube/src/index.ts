export type * from "./join/runtime.ts";
export type * from "./pods/record.ts";
