export interface PythonPackage {
  readonly name: string;
  readonly version: string | null;
}

const MAX_TEXT = 256;

/**
 * Name and version by the name of a folder or file: `name-version.dist-info`, `name-version-pyX.Y.egg-info`, the same
 * without a version, or `.egg`. Null where it is none of them.
 */
export function parseEntry(entry: string): PythonPackage | null {
  const stem = /^(.{1,512})\.(?:dist-info|egg-info|egg)$/.exec(entry)?.[1];
  if (stem === undefined) return null;
  // A name has no hyphen there: installers write an underscore instead.
  const [name = "", version] = stem.split("-");
  return name === "" ? null : { name, version: version || null };
}

/** Name and version by METADATA or PKG-INFO: fields of a mail's form, up to the first empty line. Null without a name. */
export function parseMetadata(text: string): PythonPackage | null {
  const [head = ""] = text.split(/\r?\n\r?\n/, 1);
  const field = (name: string): string | null => {
    const value = new RegExp(`^${name}:[ \\t]{0,16}(.{1,${MAX_TEXT}})$`, "im").exec(head)?.[1];
    return value?.trim() || null;
  };
  const name = field("Name");
  return name === null ? null : { name, version: field("Version") };
}
