/** The checks that `.ci/run` makes after the tests. Each counts as one; all run, whatever fails. */
import { add, type Counts, run, runProject } from "./vitest.ts";

const checks: readonly (readonly [name: string, command: readonly string[]])[] = [
  ["lint", ["npx", "biome", "check", "--error-on-warnings"]],
  ["types", ["npx", "tsc", "-b", "--force"]],
  ["types of tests", ["npx", "tsc", "-p", "tsconfig.test.json"]],
  ["unused code", ["npx", "knip"]],
  ["generated files unchanged", ["npm", "run", "--silent", "generate", "--", "--check"]],
];

let counts: Counts = { passed: 0, failed: 0, skipped: 0 };
for (const [name, [command = "", ...args]] of checks) {
  console.log(`\n── ${name}`);
  const ok = (await run(command, args)) === 0;
  console.log(ok ? `${name}: ok` : `${name}: FAILED`);
  counts = add(counts, { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 });
}
console.log("\n── architecture mutations");
counts = add(counts, await runProject("architecture"));
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed === 0 ? 0 : 1;
