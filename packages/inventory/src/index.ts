export type * from "./events.ts";
export type * from "./queue/queue.ts";
export type * from "./record.ts";
export type * from "./store/store.ts";
export type * from "./writer.ts";
