/** `npm test`: the unit tier on both Node versions that are supported, then the real node; ends with one line of counts. */
import { oldestNode } from "./oldest-node.ts";
import { add, conclude, runProject } from "./vitest.ts";

console.log("── unit tests");
let counts = await runProject("unit");
const oldest = await oldestNode();
if ("path" in oldest) {
  console.log("\n── unit tests on the oldest supported Node");
  counts = add(counts, await runProject("unit", oldest.path));
} else {
  console.log(`\n── unit tests on the oldest supported Node: skipped, ${oldest.reason}`);
}
console.log("\n── end-to-end tests on a real node");
counts = add(counts, await runProject("e2e"));
conclude(counts);
