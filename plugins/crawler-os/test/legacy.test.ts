import { expect, test } from "vitest";
import { parseLsbRelease, parseRedHatRelease, parseSuseRelease } from "../src/legacy.ts";
import { parseOsRelease } from "../src/parse.ts";

test("parity O1: lsb-release", () => {
  const text = 'DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE=15.10\nDISTRIB_CODENAME=wily\nDISTRIB_DESCRIPTION="Ubuntu 15.10"\n';
  expect(parseLsbRelease(text)).toEqual({
    id: "ubuntu",
    idLike: null,
    name: "Ubuntu",
    version: "15.10",
    codename: "wily",
    prettyName: "Ubuntu 15.10",
  });
});

test.each([
  ['NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="14.04"\n', "ubuntu", "14.04"],
  ["ID=alpine\nVERSION_ID=3.4.0\n", "alpine", "3.4.0"],
  ['ID="sles"\nVERSION_ID="12"\n', "sles", "12"],
])("parity O2: os-release %j", (text, id, version) => {
  expect(parseOsRelease(text)).toMatchObject({ id, version });
});

test.each([
  ["0", "11"],
  ["3", "11.3"],
])("parity O3: SuSE-release with patch level %s", (patch, version) => {
  const text = `SUSE Linux Enterprise Server 11 (ppc64)\nVERSION = 11\nPATCHLEVEL = ${patch}\n`;
  expect(parseSuseRelease(text)).toMatchObject({
    id: "sles",
    name: "SUSE Linux Enterprise Server",
    version,
    prettyName: "SUSE Linux Enterprise Server 11 (ppc64)",
  });
});

test.each([
  ["Red Hat Enterprise Linux Server release 7.2 (Maipo)", "rhel", "7.2", "Maipo"],
  ["Red Hat Enterprise Linux Server release 7 (Maipo)", "rhel", "7", "Maipo"],
  ["Red Hat Enterprise Linux Server release 7.10 (Maipo)", "rhel", "7.10", "Maipo"],
])("parity O4: %s", (line, id, version, codename) => {
  expect(parseRedHatRelease(`${line}\n`)).toMatchObject({ id, version, codename, prettyName: line });
});

test.each([
  ["CentOS release 6.8 (Final)", "6.8"],
  ["CentOS Linux release 6.8 (Final)", "6.8"],
  ["CentOS release 6 (Final)", "6"],
])("parity O5: %s", (line, version) => {
  expect(parseRedHatRelease(`${line}\n`)).toMatchObject({ id: "centos", version });
});

test.each(["", "no release", `${"x".repeat(100_000)} release 1`, "\u0000"])("parity O6: %.12s is no system", (text) => {
  for (const parse of [parseLsbRelease, parseRedHatRelease, parseSuseRelease]) {
    expect(new Set(Object.values(parse(text)))).toEqual(new Set([null]));
  }
});
