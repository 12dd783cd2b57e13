import { expect, test } from "vitest";
import { parseCounts } from "../../src/proc/key-value.ts";

test("counts by their whole name, wherever the line is, with and without a colon", () => {
  const counts = parseCounts("anon 1\nanon_thp 2\nfile 3\nMemTotal:       25276 kB\nInactive(file):  7 kB\nlast 9");
  expect(["anon", "anon_thp", "file", "MemTotal", "Inactive(file)", "last"].map((name) => counts.get(name))).toEqual([
    1, 2, 3, 25276, 7, 9,
  ]);
});

test("what is missing, garbage or negative is undefined", () => {
  const counts = parseCounts("inactive_file 5\na 12abc\nb -1\nc\nd \ne 1.5\nf 18446744073709551615\n");
  for (const name of ["file", "inactive", "a", "b", "c", "d", "e", "g", ""]) expect(counts.get(name)).toBeUndefined();
  expect(counts.get("f")).toBe(2 ** 64);
  expect(parseCounts("").get("a")).toBeUndefined();
});
