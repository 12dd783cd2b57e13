import { expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../src/instance/settings.ts";
import type { RollbackResult, Run, RunState } from "../src/journal/record.ts";
import { stepOf } from "../src/serve/step.ts";

const run = (state: RunState, rollback: RollbackResult = "notNeeded"): Run => ({
  instance: "i",
  template: null,
  digest: "d",
  namespace: null,
  server: "s",
  createdAt: "",
  endedAt: null,
  state,
  settings: DEFAULT_SETTINGS,
  headline: null,
  rollback,
  ready: null,
  leftovers: [],
  evidence: [],
  warnings: [],
});
const STATES: readonly RunState[] = [
  "PENDING",
  "CREATING",
  "WAITING",
  "ROLLING_BACK",
  "SUCCEEDED",
  "PARTIAL",
  "FAILED",
  "RETIRED",
];

test("what was asked for is done from any state on; what is done already is not done again", () => {
  const steps = (action: "work" | "resume" | "rollback" | "retire"): readonly string[] =>
    STATES.map((state) => stepOf(action, run(state), true)).map((step) =>
      step.kind === "work" && step.resumed ? "go on" : step.kind,
    );
  expect(steps("work")).toEqual(["work", "go on", "go on", "undo", "over", "over", "over", "over"]);
  expect(steps("resume")).toEqual(["work", "go on", "go on", "undo", "over", "go on", "over", "over"]);
  expect(steps("rollback")).toEqual(["undo", "undo", "undo", "undo", "refused", "undo", "over", "over"]);
  expect(steps("retire")).toEqual([...Array.from({ length: 7 }, () => "retire"), "over"]);
});

test("a rollback that left something goes on as a rollback; without its key a run can only be undone", () => {
  expect(stepOf("resume", run("PARTIAL", "incomplete"), true)).toEqual({ kind: "undo" });
  expect(stepOf("resume", run("CREATING"), false)).toMatchObject({ kind: "refused" });
  expect(stepOf("rollback", run("CREATING"), false)).toEqual({ kind: "undo" });
});
