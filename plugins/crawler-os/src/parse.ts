/** Fields of os-release(5) that we pass on. Null = the file does not say. */
export interface OperatingSystem {
  readonly id: string | null;
  readonly idLike: string | null;
  readonly name: string | null;
  readonly version: string | null;
  readonly codename: string | null;
  readonly prettyName: string | null;
}

const ASSIGNMENT = /^([A-Z][A-Z0-9_]*)=(.*)$/;
/** Characters of one value. */
export const MAX_VALUE = 1024;

/** Parses os-release(5): shell-like assignments, single or double quotes, comments. Lines that are none are skipped. */
export function parseOsRelease(text: string): OperatingSystem {
  const field = assignments(text);
  return {
    id: field("ID"),
    idLike: field("ID_LIKE"),
    name: field("NAME"),
    version: field("VERSION_ID"),
    codename: field("VERSION_CODENAME"),
    prettyName: field("PRETTY_NAME"),
  };
}

/** Looks up what a file of such assignments says; null where it says nothing. */
export function assignments(text: string): (name: string) => string | null {
  const fields = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const match = ASSIGNMENT.exec(line.trim());
    if (match?.[1] !== undefined && match[2] !== undefined) fields.set(match[1], unquote(match[2].trim()));
  }
  return (name) => fields.get(name)?.slice(0, MAX_VALUE) || null;
}

/** A value in single quotes is literal; elsewhere a backslash takes the next character as it is. */
function unquote(value: string): string {
  const quote = value[0];
  if (quote === "'") return value.slice(1, value.endsWith("'") && value.length > 1 ? -1 : undefined);
  const inner = quote === '"' ? value.slice(1, value.endsWith('"') && value.length > 1 ? -1 : undefined) : value;
  return inner.replace(/\\(.)/g, "$1");
}
