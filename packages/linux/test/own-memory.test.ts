import { cleanFileMappings } from "@trawler/linux";
import { describe, expect, it } from "vitest";

const mapping = (range: string, rights: string, path: string, anonymous: number): string =>
  `${range} ${rights} 00000000 fe:00 12345                      ${path}
Size:               2048 kB
Rss:                1024 kB
Anonymous:      ${String(anonymous).padStart(8)} kB
VmFlags: rd ex mr mw me
`;

describe("what of a process can be given back", () => {
  it("takes read-only mappings of files that were never written to", () => {
    const text = [
      mapping("00400000-0082e000", "r--p", "/usr/local/bin/node", 0),
      mapping("0082e000-03489000", "r-xp", "/usr/local/bin/node", 0),
    ].join("");
    expect(cleanFileMappings(text)).toEqual([
      { start: 0x400000, end: 0x82e000 },
      { start: 0x82e000, end: 0x3489000 },
    ]);
  });

  it("leaves what holds a page of its own, what can be written, and what is no file", () => {
    const text = [
      mapping("072a7000-07308000", "r--p", "/usr/local/bin/node", 184),
      mapping("07308000-07359000", "rw-p", "/usr/local/bin/node", 0),
      mapping("7f0000000000-7f0000001000", "r-xp", "[vdso]", 0),
      mapping("7f0000002000-7f0000003000", "r--p", "", 0),
      mapping("7f0000004000-7f0000005000", "r--s", "/dev/shm/x", 0),
    ].join("");
    expect(cleanFileMappings(text)).toEqual([]);
  });
});
