import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { LimitsAbove } from "../../src/cgroup/limits-above.ts";

test("a limit above many cgroups is read once for all of them, and anew a second later", ({ expect }) => {
  const folder = mkdtempSync(join(tmpdir(), "limits-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "memory.max");
  let now = 100;
  const limits = new LimitsAbove({ now: () => 0, monotonic: () => now });

  writeFileSync(path, "1000\n");
  expect(limits.read(path)).toBe("1000\n");
  writeFileSync(path, "2000\n");
  now += 0.9;
  expect(limits.read(path)).toBe("1000\n");
  now += 0.1;
  expect(limits.read(path)).toBe("2000\n");
  expect(limits.read(join(folder, "gone"))).toBeNull();
});
