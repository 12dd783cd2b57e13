import { expect, test } from "vitest";
import type { ItemStatus } from "../src/journal/record.ts";
import { conclude, type Facts } from "../src/report/outcome.ts";

const run = (statuses: readonly ItemStatus[], reached: boolean, rollback: Facts["rollback"]) =>
  conclude({ items: statuses.map((status) => ({ status })), reached, rollback });

test.each<[string, readonly ItemStatus[], boolean, Facts["rollback"], string, string]>([
  ["all created", ["created", "created"], true, null, "SUCCEEDED", "notNeeded"],
  ["all there, some before", ["existing", "created"], true, null, "SUCCEEDED", "notNeeded"],
  ["no objects", [], true, null, "SUCCEEDED", "notNeeded"],
  ["none created", ["failed", "skipped"], false, null, "FAILED", "notNeeded"],
  ["none created, one was there before", ["existing", "failed"], false, null, "FAILED", "notNeeded"],
  ["some created, no rollback", ["created", "failed", "skipped"], false, null, "PARTIAL", "notRequested"],
  ["some created, rolled back", ["rolledBack", "failed"], false, "complete", "FAILED", "complete"],
  ["one replaced during the rollback", ["replaced", "failed"], false, "complete", "FAILED", "complete"],
  ["rollback incomplete", ["rolledBack", "rollbackFailed", "failed"], false, "incomplete", "PARTIAL", "incomplete"],
  ["a volume kept", ["kept", "failed"], false, "incomplete", "PARTIAL", "incomplete"],
  ["children left", ["rolledBack", "failed"], false, "incomplete", "PARTIAL", "incomplete"],
  ["all created, one not ready", ["created", "created"], false, null, "PARTIAL", "notRequested"],
  ["one unknown", ["unknown"], false, null, "PARTIAL", "notRequested"],
  ["one unknown, rolled back", ["unknown", "rolledBack"], false, "incomplete", "PARTIAL", "incomplete"],
])("P29: %s", (_, statuses, reached, rollback, state, result) => {
  expect(run(statuses, reached, rollback)).toEqual({ state, rollback: result });
});
