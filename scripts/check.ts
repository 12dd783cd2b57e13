/** The checks that `.ci/run` makes after the tests. Each counts as one; all run, whatever fails. */
import { add, conclude, NOTHING, run, runProject } from "./vitest.ts";

const checks: readonly (readonly [name: string, command: readonly string[]])[] = [
  ["lint", ["npx", "biome", "check", "--error-on-warnings"]],
  ["types", ["npx", "tsc", "-b", "--force"]],
  ["types of tests", ["npx", "tsc", "-p", "tsconfig.test.json"]],
  ["unused code", ["npx", "knip"]],
  ["generated files unchanged", ["npm", "run", "--silent", "generate", "--", "--check"]],
];

let counts = NOTHING;
for (const [name, [command = "", ...args]] of checks) {
  console.log(`\n── ${name}`);
  const ok = (await run(command, args)) === 0;
  console.log(ok ? `${name}: ok` : `${name}: FAILED`);
  counts = add(counts, ok ? { ...NOTHING, passed: 1 } : { ...NOTHING, failed: 1, failures: [name] });
}
console.log("\n── architecture mutations");
counts = add(counts, await runProject("architecture"));
conclude(counts);
