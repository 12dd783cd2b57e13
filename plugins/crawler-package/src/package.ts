/** One installed package, as its database says. Null = the database does not say. */
export interface InstalledPackage {
  readonly name: string;
  /** With its epoch and its release, as the manager compares it. */
  readonly version: string;
  readonly architecture: string | null;
  /** Installed size in bytes. */
  readonly size: number | null;
  /** The package, or the file of rpm, that it was built from. */
  readonly source: string | null;
  /** dpkg's word for how far its installation is; null where the manager has none. */
  readonly state: string | null;
  /** RFC 3339. */
  readonly installed: string | null;
  /** Written after the container started; null where that cannot be known. */
  readonly drift: boolean | null;
}

/** Why a list may be less than all. */
export interface Shortfall {
  readonly code: "truncated" | "failed";
  readonly message: string;
}

/** What a database held. */
export interface PackageList {
  readonly packages: readonly InstalledPackage[];
  readonly shortfall: Shortfall | null;
}

export function tooMany(max: number): Shortfall {
  return { code: "truncated", message: `more than ${max} packages` };
}

/** The last package of a text that was cut off is not whole. */
export function ended(packages: readonly InstalledPackage[], cut: boolean): PackageList {
  if (!cut) return { packages, shortfall: null };
  const message = "longer than what is read of it";
  return { packages: packages.slice(0, -1), shortfall: { code: "truncated", message } };
}

/** A text of a database, bounded; null where it is empty. */
export function field(text: string | undefined): string | null {
  return text?.trim().slice(0, MAX_TEXT) || null;
}

const MAX_TEXT = 256;

/** A number of bytes; null where it is none that JSON can hold exactly. */
export function bytes(text: string | undefined, unit = 1): number | null {
  if (text === undefined || !/^\d{1,15}$/.test(text.trim())) return null;
  const value = Number(text) * unit;
  return Number.isSafeInteger(value) ? value : null;
}

/** Each with a key of its own, sorted: `name:architecture`, where several are installed with their version and number. */
export function keyed<P extends InstalledPackage>(packages: readonly P[]): readonly (readonly [string, P])[] {
  const sorted = packages.toSorted((a, b) => compare(identity(a), identity(b)) || compare(a.version, b.version));
  const seen = new Map<string, number>();
  return sorted.map((one) => {
    const key = identity(one);
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    return [before === 0 ? key : `${key}:${one.version}#${before + 1}`, one] as const;
  });
}

function identity({ name, architecture }: InstalledPackage): string {
  return architecture === null ? name : `${name}:${architecture}`;
}

/** By code units: the same order on every machine. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
