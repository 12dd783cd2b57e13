/** `npm test`: the unit tier on both Node versions that are supported, then the real node; ends with one line of counts. */
import { existsSync } from "node:fs";
import { add, type Counts, runProject } from "./vitest.ts";

/** The oldest supported Node, an optional dependency: it exists for Linux on x64 only. */
const oldest = "node_modules/node-24/bin/node";

let counts: Counts = { passed: 0, failed: 0, skipped: 0 };
console.log("── unit tests");
counts = add(counts, await runProject("unit"));
if (existsSync(oldest)) {
  console.log("\n── unit tests on Node 24");
  counts = add(counts, await runProject("unit", oldest));
} else {
  console.log("\n── unit tests on Node 24: skipped, no binary of it for this platform");
}
console.log("\n── end-to-end tests on a real node");
counts = add(counts, await runProject("e2e"));
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
