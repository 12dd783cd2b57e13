import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lockFolder, stateFolder } from "../src/state.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trawler-state-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the state folder", () => {
  test("is the setting, else the system's for root, else the user's", () => {
    expect(stateFolder("/srv/x", {}, 0)).toBe("/srv/x");
    expect(stateFolder(undefined, {}, 0)).toBe("/var/lib/trawler");
    expect(stateFolder(undefined, { XDG_STATE_HOME: "/home/a/state" }, 1000)).toBe("/home/a/state/trawler");
    expect(stateFolder(undefined, { HOME: "/home/a" }, 1000)).toBe("/home/a/.local/state/trawler");
  });
});

describe("its lock", () => {
  const lock = () => join(folder, "trawl.lock");

  test("is given back on dispose, and only while it is one's own", () => {
    lockFolder(folder)[Symbol.dispose]();
    expect(existsSync(lock())).toBe(false);
    const held = lockFolder(folder);
    writeFileSync(lock(), "another's");
    held[Symbol.dispose]();
    expect(readFileSync(lock(), "utf8")).toBe("another's");
  });

  test("is refused while the process that holds it lives", () => {
    using _ = lockFolder(folder);
    expect(() => lockFolder(folder, process.ppid)).toThrow(expect.objectContaining({ code: "TRAWLER_BUSY" }));
  });

  test.each([
    ["a process that has gone", JSON.stringify({ pid: 2 ** 22 + 1, startTicks: "1" })],
    ["a pid that another process has now", JSON.stringify({ pid: 1, startTicks: "123456789" })],
    ["one's own pid, as in a container that was started anew", JSON.stringify({ pid: process.pid, startTicks: "1" })],
    ["noise", "\u0000{"],
    ["nothing", ""],
  ])("is taken over from %s", (_, text) => {
    writeFileSync(lock(), text);
    using _lock = lockFolder(folder);
    expect(JSON.parse(readFileSync(lock(), "utf8"))).toMatchObject({ pid: process.pid });
  });
});
