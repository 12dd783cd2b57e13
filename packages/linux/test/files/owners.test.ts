import { writeFileSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseOwners } from "../../src/files/owners.ts";
import { openFileSystem } from "../../src/index.ts";
import { Child } from "./child.ts";

test("ids are those that the namespace maps; others are the overflow id", () => {
  const owners = parseOwners("         0     100000      65536\n     70000       1000          1\n", "0 200000 10\n");
  expect([100_000, 100_999, 165_535, 165_536, 1000, 0].map(owners.user)).toEqual([
    0, 999, 65_535, 65_534, 70_000, 65_534,
  ]);
  expect([200_009, 200_010].map(owners.group)).toEqual([9, 65_534]);
});

test("the first namespace, and one that has no map yet, change nothing", () => {
  expect(parseOwners("0 0 4294967295\n", "").user(4_294_967_294)).toBe(4_294_967_294);
  expect(parseOwners("", "garbage\n").group(42)).toBe(42);
});

const reason = process.getuid?.() === 0 ? null : "not root: no user namespace can be mapped";

test.skipIf(reason !== null)("the files of a process are owned as its user namespace shows it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trawler-owners-"));
  await writeFile(join(folder, "file"), "");
  await chown(join(folder, "file"), 300_042, 300_007);
  const member = await Child.start("unshare", ["--user", "sh", "-c", "echo ready; read line"]);
  try {
    writeFileSync(`/proc/${member.pid}/uid_map`, "0 300000 65536");
    writeFileSync(`/proc/${member.pid}/gid_map`, "0 300000 65536");
    await using files = await openFileSystem({ pid: member.pid, procRoot: "/proc", allowNodeRoot: true });
    const found = await files.stat(join(folder, "file"));
    expect(found).toMatchObject({ userId: 42, groupId: 7, hostUserId: 300_042, hostGroupId: 300_007 });
    expect(await files.stat("/")).toMatchObject({ userId: 65_534, hostUserId: 0 });
    for await (const batch of files.walk(folder)) expect(batch).toMatchObject([{ userId: 42 }]);
  } finally {
    await member[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  }
});
