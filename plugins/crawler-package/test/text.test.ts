import { expect, test } from "vitest";
import { parseApk } from "../src/apk.ts";
import { parseDpkg } from "../src/dpkg.ts";

const never = () => ({ installed: null, drift: null });
const dpkg = (text: string, max = 100, cut = false) => parseDpkg(text, never, max, cut);

test("parity O7: two packages of dpkg, with bytes for its kibibytes", () => {
  const text = ["pkg1", "pkg2"].map(
    (name) => `Package: ${name}\nVersion: v1\nArchitecture: x86\nInstalled-Size: 123\n`,
  );
  const one = { version: "v1", architecture: "x86", size: 123 * 1024, source: null, state: null };
  expect(dpkg(text.join("\n")).packages).toEqual([
    { name: "pkg1", ...one, installed: null, drift: null },
    { name: "pkg2", ...one, installed: null, drift: null },
  ]);
});

test("parity O9: packages of apk, with the installed size and not that of the file", () => {
  const first = "P:first-package\nV:111.1.1\nA:x86_64\nS:111\nI:999\no:first\nF:etc\nR:P:not-a-name\n";
  const { packages } = parseApk(`${first}\nP:second-package\nV:222.2.2\nS:222\n`, 100);
  expect(packages).toMatchObject([
    { name: "first-package", version: "111.1.1", architecture: "x86_64", size: 999, source: "first" },
    { name: "second-package", version: "222.2.2", architecture: null, size: null, source: null },
  ]);
});

test("a package that was removed is none, whatever is left of it; one that is half there is", () => {
  const paragraph = (name: string, status: string) => `Package: ${name}\nStatus: ${status}\nVersion: 1\n`;
  const states = ["install ok installed", "deinstall ok config-files", "purge ok not-installed", "install ok unpacked"];
  const { packages } = dpkg(states.map((state, index) => paragraph(`p${index}`, state)).join("\n"));
  expect(packages.map(({ name, state }) => [name, state])).toEqual([
    ["p0", "installed"],
    ["p3", "unpacked"],
  ]);
});

test("the source of a package is named without its version", () => {
  expect(dpkg("Package: a\nVersion: 1\nSource: b (2:3-4)\n").packages[0]?.source).toBe("b");
});

test("a text that was cut off loses its last package and says so", () => {
  const text = "Package: a\nVersion: 1\n\nPackage: b\nVersion: 1";
  expect(dpkg(text, 100, true)).toMatchObject({ packages: [{ name: "a" }], shortfall: { code: "truncated" } });
  expect(dpkg(text, 1)).toMatchObject({ packages: [{ name: "a" }], shortfall: { code: "truncated" } });
  expect(parseApk("P:a\nV:1\n\nP:b\nV:1", 100, true).packages).toHaveLength(1);
});

test("noise, endless lines and sizes beyond reason cost nothing", () => {
  for (const text of ["\n".repeat(500_000), "a\n".repeat(500_000), ":".repeat(1_000_000), "x".repeat(4_000_000)]) {
    expect(dpkg(text)).toEqual({ packages: [], shortfall: null });
  }
  const { packages } = dpkg(
    `Package: ${"n".repeat(100_000)}\nVersion: 1\nInstalled-Size: 999999999999999\nArchitecture:\n`,
  );
  expect(packages).toMatchObject([{ architecture: null, size: null }]);
  expect(packages[0]?.name).toHaveLength(256);
  expect(dpkg("Package: a\nVersion: 1\nInstalled-Size: -1\n").packages[0]?.size).toBeNull();
});
