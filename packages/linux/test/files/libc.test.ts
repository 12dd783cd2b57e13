import { expect, test } from "vitest";
import { errnoName } from "../../src/ffi/libc.ts";

test("a number of errno has the name that Node gives its own errors", () => {
  expect(errnoName(2)).toBe("ENOENT");
  expect(errnoName(-11)).toBe("EAGAIN");
  expect(errnoName(-18)).toBe("EXDEV");
  expect(errnoName(38)).toBe("ENOSYS");
  expect(errnoName(1)).toBe("EPERM");
  expect(errnoName(40)).toBe("ELOOP");
  expect(errnoName(9_999)).toBe("E9999");
});
