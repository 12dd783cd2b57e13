import { describe, expect, test } from "vitest";
import { kindOfPage, parseStubStatus } from "../src/parse.ts";
import { newestVersion } from "../src/plus.ts";
import { PAGE } from "./fake-nginx.ts";

describe("parseStubStatus", () => {
  const expected = {
    active: 5,
    accepted: 231,
    handled: 230,
    dropped: 1,
    requests: 998,
    reading: 0,
    writing: 1,
    waiting: 4,
  };

  test("C109, parity A2: reads the page with any line ends", () => {
    expect(parseStubStatus(PAGE)).toEqual(expected);
    expect(parseStubStatus(PAGE.replaceAll("\n", "\r\n"))).toEqual(expected);
    expect(parseStubStatus(PAGE.trimEnd())).toEqual(expected);
  });

  test("C109: counters beyond 2^53 stay exact", () => {
    const big = PAGE.replace("231 230 998", "18446744073709551615 18446744073709551614 9007199254740993");
    expect(parseStubStatus(big)).toMatchObject({
      accepted: 18_446_744_073_709_551_615n,
      handled: 18_446_744_073_709_551_614n,
      dropped: 1,
      requests: 9_007_199_254_740_993n,
    });
  });

  test("takes the request time that some builds add", () => {
    const timed = PAGE.replace("handled requests", "handled requests request_time").replace("998", "998 12345");
    expect(parseStubStatus(timed)).toEqual(expected);
  });

  test("C111: gives no numbers from another page", () => {
    for (const text of ["", "pool: www\naccepted conn: 6", PAGE.slice(0, 60), `${PAGE}more`, `<html>${PAGE}</html>`]) {
      expect(parseStubStatus(text)).toBeNull();
    }
  });

  test("takes little time over a long text that almost matches", () => {
    expect(parseStubStatus(`Active connections: 1${" \n".repeat(30_000)}`)).toBeNull();
  });
});

test("C111: names the kind of another page", () => {
  expect(kindOfPage("pool: www\naccepted conn: 6")).toBe("a php-fpm status page");
  expect(kindOfPage('{"hostName":"a","serverZones":{"NO~^(a|b)\\\\d+":{}}}')).toBe("a VTS status page");
  expect(kindOfPage("<!DOCTYPE html><html></html>")).toBe("an HTML page");
  expect(kindOfPage(" \n")).toBe("an empty page");
  expect(kindOfPage("hello")).toBe("another page");
});

test("C115: chooses the newest version of the API that is known here", () => {
  expect(newestVersion("[1,2,3,4,5,6,7,8,9]")).toBe(9);
  expect(newestVersion("[ 1, 2, 12 ]\n")).toBe(2);
  expect(newestVersion("[]")).toBeNull();
  expect(newestVersion('{"error":1}')).toBeNull();
});
