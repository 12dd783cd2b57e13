import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bench, known, lists, PODS, pod, until } from "./collector-harness.ts";

/** A file system of so many bytes, which only root may mount. */
function smallDisk(bytes: number): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "trawler-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", path]);
  return {
    path,
    [Symbol.dispose]: () => {
      execFileSync("umount", ["-l", path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

function mayMount(): boolean {
  try {
    smallDisk(65_536)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!mayMount())("a disk that is full (skipped where this process may not mount a tmpfs)", () => {
  test("B37, Failure 25: not ready and why, nothing is corrupted, and it goes on when there is room", async () => {
    using disk = smallDisk(8 * 1024 * 1024);
    await using world = await bench((api) => api.put(PODS, pod("first")));
    const filler = join(disk.path, "filler");
    {
      const { collector, stop } = await world.start({ folder: disk.path });
      await until("ready", () => collector.status().unready === null && known(collector).includes("first live"));
      // Somebody else takes what is left.
      expect(() => writeFileSync(filler, new Uint8Array(16 * 1024 * 1024))).toThrow("ENOSPC");
      for (let i = 0; i < 60; i += 1) {
        const note = Buffer.from(crypto.getRandomValues(new Uint8Array(20_000))).toString("base64");
        world.api.put(PODS, pod(`u${i}`, { note }));
        if (i % 2 === 1) world.api.delete(PODS, `u${i}`);
      }
      await until("not ready", () => /full|cannot be written/.test(collector.status().unready ?? ""));
      rmSync(filler);
      await until("all to be there", () => known(collector).length === 61);
      await until("ready again", () => collector.status().unready === null);
      await stop();
    }
    expect(readdirSync(disk.path)).toContain("inventory.db");
    const { collector } = await world.start({ folder: disk.path });
    await until("the same", () => known(collector).filter((line) => line.includes("gone watch exact")).length === 30);
    expect(known(collector)).toHaveLength(61);
    expect(lists(world.api)).toBe(1);
  });
});
