import { expect, test } from "vitest";
import { parseEntry, parseMetadata } from "../src/parse.ts";

test("parity P27: name and version by the name of the metadata", () => {
  const table = [
    ["argparse.egg-info", "argparse", null],
    ["six-1.10.0.egg-info", "six", "1.10.0"],
    ["requests-2.25.1.dist-info", "requests", "2.25.1"],
    ["Foo_Bar-1.0rc1.dist-info", "Foo_Bar", "1.0rc1"],
    ["p-1.0-py3.9.egg-info", "p", "1.0"],
    ["numpy-1.26.4-py3.11-linux-x86_64.egg", "numpy", "1.26.4"],
    ["local-1.0+deb12.dist-info", "local", "1.0+deb12"],
  ] as const;
  for (const [entry, name, version] of table) expect(parseEntry(entry), entry).toEqual({ name, version });
  for (const entry of ["six.py", ".dist-info", "-1.0.dist-info", "__pycache__", `${"x".repeat(1000)}.egg-info`]) {
    expect(parseEntry(entry), entry).toBeNull();
  }
});

test("metadata is read up to its first empty line, whatever its line ends and case", () => {
  expect(parseMetadata("Name: a\r\nVersion: 1.0\r\n\r\nName: b")).toEqual({ name: "a", version: "1.0" });
  expect(parseMetadata("name:a\nVERSION:\t2\n")).toEqual({ name: "a", version: "2" });
  expect(parseMetadata("Name: a\n\nVersion: 9")).toEqual({ name: "a", version: null });
  expect(parseMetadata("Author: x\n\nName: a")).toBeNull();
  for (const noise of ["", "\u0000".repeat(10_000), "Name:".repeat(10_000), "\n".repeat(10_000)]) {
    expect(parseMetadata(noise)).toBeNull();
  }
});
