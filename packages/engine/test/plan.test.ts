import { checkPlan } from "@trawler/engine";
import { fakeMode, scriptedEnvironment } from "@trawler/testkit";
import { expect, test } from "vitest";
import { crawlerOf } from "./support.ts";

const environment = scriptedEnvironment().plugin;
const mode = fakeMode().plugin;

test("a plan that fits has no faults; `meta` is the host's own", () => {
  const crawlers = [crawlerOf(async function* () {}, { needs: ["fs", "meta"] }).plugin];
  expect(checkPlan(environment, mode, crawlers)).toEqual([]);
});

test("all that does not fit is said at once", () => {
  const narrow = {
    ...mode,
    requires: ["pid"],
    accepts: ["host"],
    provides: { subject: ["net"], member: ["cgroup"] },
  } as const;
  const member = crawlerOf(async function* () {}, { name: "package", needs: ["fs"] }).plugin;
  const both = crawlerOf(async function* () {}, { name: "cpu", scope: "both", needs: ["cgroup"] }).plugin;
  const subject = crawlerOf(async function* () {}, { name: "pods", scope: "subject", needs: ["cgroup"] }).plugin;
  expect(checkPlan({ ...environment, kinds: ["pod"], reports: ["podUid"] }, narrow, [member, both, subject])).toEqual([
    "mode fake accepts host, but environment scripted reports pod",
    "mode fake requires pid, which environment scripted does not report",
    "crawler package needs fs, which mode fake does not provide for a member",
    "crawler pods needs cgroup, which mode fake does not provide for a subject",
  ]);
});
