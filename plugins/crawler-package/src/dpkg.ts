import { bytes, ended, field, type InstalledPackage, type PackageList, tooMany } from "./package.ts";
import { paragraphs } from "./paragraphs.ts";

const WANTED: ReadonlySet<string> = new Set([
  "Package",
  "Version",
  "Architecture",
  "Installed-Size",
  "Source",
  "Status",
]);
/** Of the state's words in dpkg(1): those of packages whose files are not there. */
const ABSENT: ReadonlySet<string> = new Set(["not-installed", "config-files"]);
/** `Installed-Size` of deb-control(5). */
const KIBIBYTE = 1024;

/** When a package's list of files was written, and whether that was after the container started. */
export type ListedAt = (name: string, architecture: string | null) => Pick<InstalledPackage, "installed" | "drift">;

/**
 * Parses `/var/lib/dpkg/status`, or a file of `status.d`, where no state is written and all is installed. Packages that
 * were removed, with or without their settings, are left out. `cut` = the text ends within a package.
 */
export function parseDpkg(text: string, listedAt: ListedAt, max: number, cut = false): PackageList {
  const packages: InstalledPackage[] = [];
  for (const fields of paragraphs(text, WANTED)) {
    const name = field(fields.get("Package"));
    const version = field(fields.get("Version"));
    const state = field(fields.get("Status")?.split(/\s+/)[2]);
    if (name === null || version === null || (state !== null && ABSENT.has(state))) continue;
    if (packages.length >= max) return { packages, shortfall: tooMany(max) };
    const architecture = field(fields.get("Architecture"));
    packages.push({
      name,
      version,
      architecture,
      size: bytes(fields.get("Installed-Size"), KIBIBYTE),
      // The source's version stands behind it where it differs.
      source: field(fields.get("Source")?.split(" ")[0]),
      state,
      ...listedAt(name, architecture),
    });
  }
  return ended(packages, cut);
}
