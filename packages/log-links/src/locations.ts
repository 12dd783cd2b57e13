/** Paths that one container may ask for. */
const MAX_LOCATIONS = 64;
/** PATH_MAX, without its end mark. */
const MAX_PATH_BYTES = 4095;

/** Paths separated by commas, as `LOG_LOCATIONS` and the annotation hold them: each once, 64 at most. Hostile input. */
export function parseLocations(text: string): readonly string[] {
  const found = new Set<string>();
  for (const part of text.split(",", MAX_LOCATIONS * 4)) {
    const path = part.trim();
    if (path !== "") found.add(path);
    if (found.size >= MAX_LOCATIONS) break;
  }
  return [...found];
}

/** `LOG_LOCATIONS` in the text of `/proc/PID/environ`; null without one. The rest, secrets too, is not kept. */
export function locationsOfEnvironment(environ: string): string | null {
  const name = "LOG_LOCATIONS=";
  const entry = environ.split("\0").find((one) => one.startsWith(name));
  return entry === undefined ? null : entry.slice(name.length);
}

/** Why no link is made for such a path, whatever is there; null = it may be looked for. */
export function locationFault(path: string): string | null {
  if (!path.startsWith("/")) return "it is not absolute";
  if (/\p{Cc}/u.test(path)) return "it holds control characters";
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return "it is too long";
  const names = path.split("/");
  if (names.includes("..")) return "it holds ..";
  // A link has the same name as its file, and stands a few folders lower.
  if (names.some((name) => Buffer.byteLength(name) > 255)) return "a name in it is too long";
  if (names.every((name) => name === "" || name === ".")) return "it is a folder";
  return null;
}

/** The same path without what says nothing: `.` and doubled slashes. */
export function plainPath(path: string): string {
  return `/${path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/")}`;
}
