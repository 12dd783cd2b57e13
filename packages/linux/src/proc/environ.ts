/** Most names that are reported: an environment of 2 MiB is legal. */
const MAX_NAMES = 1000;

/**
 * Names in `/proc/PID/environ`, sorted, without their values. Programs that overwrite it for their process title
 * (redis, nginx) leave NULs or a title without `=`: those give nothing.
 */
export function parseEnvironmentNames(text: string): readonly string[] {
  const names = new Set<string>();
  for (const entry of text.split("\0")) {
    const equals = entry.indexOf("=");
    const name = entry.slice(0, equals);
    if (equals > 0 && /^[A-Za-z_][\w.-]{0,254}$/.test(name)) names.add(name);
    if (names.size >= MAX_NAMES) break;
  }
  return [...names].sort();
}
