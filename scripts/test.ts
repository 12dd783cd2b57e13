/** `npm test`: the unit tier, then the real node; ends with one line that counts both. */
import { add, type Counts, runProject } from "./vitest.ts";

let counts: Counts = { passed: 0, failed: 0, skipped: 0 };
for (const project of ["unit", "e2e"]) {
  console.log(`\n── ${project} tests`);
  counts = add(counts, await runProject(project));
}
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
