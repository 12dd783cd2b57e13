export interface NodePackage {
  readonly name: string;
  readonly version: string;
  readonly license: string | null;
}

const MAX_TEXT = 256;

/** Name, version and licence by a package.json; null where it is none, or names no package (it may only set a type). */
export function parsePackage(text: string): NodePackage | null {
  const { name, version, license } = record(parse(text));
  if (typeof name !== "string" || typeof version !== "string" || name === "" || version === "") return null;
  return { name: name.slice(0, MAX_TEXT), version: version.slice(0, MAX_TEXT), license: licenseOf(license) };
}

/** A text, or the object with a type that old packages have. */
function licenseOf(license: unknown): string | null {
  const text = typeof license === "string" ? license : record(license)["type"];
  return typeof text === "string" ? text.slice(0, MAX_TEXT) || null : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return null;
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
