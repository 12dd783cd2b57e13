import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseStatus } from "../src/parse.ts";

const real = readFileSync(new URL("../testdata/ok/page.txt", import.meta.url), "utf8");
const page = [
  "Total Accesses: 172",
  "Total kBytes: 1182",
  "Uptime: 1183",
  "ReqPerSec: .145393",
  "BytesPerSec: 1023.13",
  "BytesPerReq: 7037.02",
  "BusyWorkers: 2",
  "IdleWorkers: 9",
  "Scoreboard: __R_W______......G..C...DSKLI....",
].join("\n");

describe("server-status?auto", () => {
  test("parity A1: every line and every letter of the scoreboard", () => {
    expect(parseStatus(page)).toMatchObject({
      accesses: 172,
      bytes: 1182 * 1024,
      uptime: 1183,
      requestRate: 0.145393,
      byteRate: 1023.13,
      bytesPerRequest: 7037.02,
      busy: 2,
      idle: 9,
      workers: {
        waiting: 9,
        starting: 1,
        reading: 1,
        sending: 1,
        keepalive: 1,
        dns_lookup: 1,
        closing: 1,
        logging: 1,
        finishing: 1,
        idle_cleanup: 1,
      },
    });
  });

  test("parity A1: an absent line is null, not 0 as in the forerunner", () => {
    expect(parseStatus(page.replace("Uptime: 1183\n", ""))).toMatchObject({ uptime: null });
  });

  test("a real page of Apache 2.4", () => {
    expect(parseStatus(real)).toMatchObject({ version: "Apache/2.4.68 (Debian)", busy: 1, idle: 74, connections: 0 });
  });

  test.each(["", "<html>BusyWorkers: 3</html>", "Scoreboard", "a: b\n".repeat(100_000)])("%.20s is none", (text) => {
    expect(parseStatus(text)).toBeNull();
  });

  test("what is no number is null", () => {
    expect(parseStatus("BusyWorkers: many\nIdleWorkers: -1\nLoad1: 1e99999")).toMatchObject({ busy: null, idle: null });
  });
});
