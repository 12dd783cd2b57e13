import { expect, test } from "vitest";
import { mountType, parseMountId } from "../../src/files/mounts.ts";
import { parseIdentity } from "../../src/files/pid.ts";

const MOUNTINFO = `22 27 0:21 / /proc rw,relatime - proc proc rw
271 27 0:22 / / rw,relatime shared:1 master:2 - overlay overlay rw,lowerdir=/a
27 1 254:0 / /a\\040-\\040proc rw - ext4 /dev/vda rw
30 27 0:40 / /mnt rw - fuse.sshfs host:/ rw
`;

test("finds the type of a mount by its id, not by a prefix of it", () => {
  expect(mountType(MOUNTINFO, 22)).toBe("proc");
  expect(mountType(MOUNTINFO, 271)).toBe("overlay");
  expect(mountType(MOUNTINFO, 27)).toBe("ext4");
  expect(mountType(MOUNTINFO, 30)).toBe("fuse.sshfs");
});

test("a mount that is not listed, and text that is none, have no type", () => {
  expect(mountType(MOUNTINFO, 2)).toBeNull();
  expect(mountType("", 22)).toBeNull();
  expect(mountType("22 garbage", 22)).toBeNull();
});

test("reads mnt_id of a fdinfo", () => {
  expect(parseMountId("pos:\t0\nflags:\t012200000\nmnt_id:\t27\nino:\t2\n")).toBe(27);
  expect(parseMountId("pos:\t0\n")).toBeNull();
});

test("reads state and start time whatever the command is called", () => {
  const rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
  expect(parseIdentity(`12 (a) Z 9 9 (x) ${rest}`)).toEqual({ state: "S", startTicks: 4711 });
  expect(parseIdentity("12 (never ends")).toBeNull();
  expect(parseIdentity("12 (short) S 1")).toBeNull();
});
