/** A gem as the name of its specification says. */
export interface Gem {
  readonly name: string;
  readonly version: string;
  /** Null for one that runs everywhere. */
  readonly platform: string | null;
}

// A version is digits, then parts behind points; what follows it is a platform.
const SPECIFICATION =
  /^([A-Za-z0-9_.-]{1,256}?)-(\d{1,32}(?:\.[0-9A-Za-z]{1,64}){0,16})(?:-([A-Za-z0-9_.-]{1,64}))?\.gemspec$/;

/** Takes `name-version.gemspec` or `name-version-platform.gemspec` apart; null where it is none. */
export function parseSpecification(file: string): Gem | null {
  const [, name, version, platform = null] = SPECIFICATION.exec(file) ?? [];
  return name === undefined || version === undefined ? null : { name, version, platform };
}
