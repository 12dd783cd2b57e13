/** One line of `/proc/PID/mountinfo`. */
export interface Mount {
  readonly id: number;
  /** `major:minor`. */
  readonly device: string;
  /** What of the file system is mounted. */
  readonly root: string;
  readonly mountPoint: string;
  /** Options of this mount. */
  readonly options: readonly string[];
  readonly fileSystem: string;
  readonly source: string;
  /** Options of the file system itself: for cgroup v1 they hold the controllers. */
  readonly superOptions: readonly string[];
}

/** Parses `/proc/PID/mountinfo`; lines of another form are left out. */
export function parseMountinfo(text: string): readonly Mount[] {
  const mounts: Mount[] = [];
  for (const line of text.split("\n")) {
    const [before, after] = line.split(" - ", 2);
    if (before === undefined || after === undefined) continue;
    const [id, , device, root, mountPoint, options] = before.split(" ");
    const [fileSystem, source, superOptions] = after.split(" ");
    if (id === undefined || device === undefined || root === undefined || mountPoint === undefined) continue;
    if (fileSystem === undefined || source === undefined) continue;
    mounts.push({
      id: Number(id),
      device,
      root: unescapeOctal(root),
      mountPoint: unescapeOctal(mountPoint),
      options: options?.split(",") ?? [],
      fileSystem,
      source: unescapeOctal(source),
      superOptions: superOptions?.split(",") ?? [],
    });
  }
  return mounts;
}

/** The kernel writes blank, tab, line end and backslash as three octal digits. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
