import type { RunSettings } from "../journal/record.ts";

export const DEFAULT_SETTINGS: RunSettings = {
  until: "created",
  rollback: null,
  parallel: 8,
  keepGoing: false,
  keepData: true,
  createTimeout: 300_000,
  readyTimeout: 600_000,
  rollbackTimeout: 120_000,
};
