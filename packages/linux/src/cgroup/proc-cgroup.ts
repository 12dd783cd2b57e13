/** `/proc/PID/cgroup` (cgroups(7)): the path in the unified hierarchy, and those by v1 controller. */
export interface ProcessCgroups {
  readonly unified: string | null;
  /** By controller (`memory`) and by name (`name=systemd`). */
  readonly controllers: ReadonlyMap<string, string>;
}

export function parseProcessCgroups(text: string): ProcessCgroups {
  let unified: string | null = null;
  const controllers = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, id, names, path] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? [];
    if (names === undefined || path === undefined) continue;
    if (id === "0" && names === "") unified = path;
    else for (const name of names.split(",")) controllers.set(name, path);
  }
  return { unified, controllers };
}

/** Every path that a process has, without doubles, the likeliest to tell first. */
export function processPaths({ unified, controllers }: ProcessCgroups): readonly string[] {
  const named = ["memory", "pids", "cpu", "name=systemd"].map((name) => controllers.get(name));
  const all = [...named, unified, ...controllers.values()].filter((path) => path != null);
  return [...new Set(all)];
}
