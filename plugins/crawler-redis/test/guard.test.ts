import { describe, expect, test } from "vitest";
import { ReplyGuard } from "../src/guard.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");

describe("ReplyGuard", () => {
  test("lets simple strings, errors and bulk strings pass, however they are cut", () => {
    const text = "+OK\r\n-ERR no\r\n$-1\r\n$5\r\na\r\n*b\r\n$0\r\n\r\n+PONG\r\n";
    for (const size of [1, 2, 3, 1000]) {
      const guard = new ReplyGuard(1000);
      for (let at = 0; at < text.length; at += size) expect(guard.check(bytes(text.slice(at, at + size)))).toBeNull();
      expect(guard.firstError).toBe("ERR no");
    }
  });

  test("refuses a declared length beyond the budget before a byte of it came", () => {
    expect(new ReplyGuard(1000).check(bytes("$536870912\r\n"))).toBe("too_large");
    expect(new ReplyGuard(1000).check(bytes("$99999999999999999999\r\n"))).toBe("not_redis");
  });

  test("refuses arrays, maps and numbers: a parser allocates what they declare", () => {
    for (const text of ["*30000000\r\n", "%9\r\n", "~9\r\n", ":1\r\n", "HTTP/1.1 400\r\n", "ERROR\r\n", "\0"]) {
      expect(new ReplyGuard(1000).check(bytes(text))).toBe("not_redis");
    }
    expect(new ReplyGuard(1000).check(bytes("+OK\r\n*30000000\r\n"))).toBe("not_redis");
  });

  test("refuses more bytes than the budget and lines without an end", () => {
    const guard = new ReplyGuard(100);
    expect(guard.check(bytes(`$90\r\n${"x".repeat(90)}\r\n`))).toBeNull();
    expect(guard.check(bytes("+OK\r\n"))).toBe("too_large");
    expect(new ReplyGuard(100_000).check(bytes(`+${"x".repeat(10_000)}`))).toBe("too_large");
  });

  test("C106: tells TLS by its first byte", () => {
    expect(new ReplyGuard(100).check(bytes("\x15\x03\x01\x00\x02\x02\x46"))).toBe("tls");
  });
});
