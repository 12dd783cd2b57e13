import type { MappedFiles } from "@trawler/plugin-api";

/** Address, rights, offset, device and inode, then the path; the kernel writes a line feed in a path as `\012`. */
const FILE = /^[0-9a-f]+-[0-9a-f]+ \S{4} [0-9a-f]+ [0-9a-f]+:[0-9a-f]+ [1-9]\d* +(\/.*)$/;
/** Memory that processes share, by files that the kernel only makes up. */
const NO_FILE = /^\/(?:dev\/zero|SYSV[0-9a-f]{8}) \(deleted\)$/;

/** Files of a `/proc/PID/maps` (proc(5)), at most `max`. A text that ends within a line was cut. */
export function parseMappedFiles(text: string, max: number): MappedFiles {
  const whole = text === "" || text.endsWith("\n");
  const lines = text.split("\n");
  const paths = new Set<string>();
  for (const line of whole ? lines : lines.slice(0, -1)) {
    const path = FILE.exec(line)?.[1];
    if (path !== undefined && !NO_FILE.test(path)) paths.add(path);
  }
  return { paths: [...paths].sort().slice(0, max), truncated: !whole || paths.size > max };
}
