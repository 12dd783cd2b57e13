import type { ItemStatus } from "../journal/record.ts";

/** What people read. */
export const WORDS: Readonly<Record<ItemStatus, string>> = {
  planned: "planned",
  creating: "creating",
  created: "created",
  existing: "existing, left alone",
  failed: "failed",
  skipped: "not tried",
  unknown: "unknown: the server gave no answer",
  rolledBack: "rolled back",
  replaced: "gone: another object has its name now, which is left alone",
  kept: "kept",
  rollbackFailed: "not rolled back",
};
