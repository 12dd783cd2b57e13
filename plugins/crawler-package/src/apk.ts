import { bytes, ended, field, type InstalledPackage, type PackageList, tooMany } from "./package.ts";
import { paragraphs } from "./paragraphs.ts";

/** Name, version, architecture, installed size in bytes, origin. `S` is the size of the package's file. */
const WANTED: ReadonlySet<string> = new Set(["P", "V", "A", "I", "o"]);

/** Parses apk's database of installed packages, which keeps no times. `cut` = the text ends within a package. */
export function parseApk(text: string, max: number, cut = false): PackageList {
  const packages: InstalledPackage[] = [];
  for (const fields of paragraphs(text, WANTED)) {
    const name = field(fields.get("P"));
    const version = field(fields.get("V"));
    if (name === null || version === null) continue;
    if (packages.length >= max) return { packages, shortfall: tooMany(max) };
    packages.push({
      name,
      version,
      architecture: field(fields.get("A")),
      size: bytes(fields.get("I")),
      source: field(fields.get("o")),
      state: null,
      installed: null,
      drift: null,
    });
  }
  return ended(packages, cut);
}
