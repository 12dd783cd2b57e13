import { posix } from "node:path";
import { type FileSystemAccess, unsupported } from "@trawler/plugin-api";

/**
 * The same files with every path below `alias`: what stands outside it is not there, but a walk from above finds it.
 * Links are resolved in the folder, as in any root.
 */
export function aliased(files: FileSystemAccess, alias: string): FileSystemAccess {
  const base = posix.resolve("/", alias);
  if (base === "/") return files;
  const inside = (path: string): string => {
    const full = posix.resolve("/", path);
    if (full === base) return "/";
    if (full.startsWith(`${base}/`)) return full.slice(base.length);
    throw unsupported(`${full}: no such file`);
  };
  const outside = <T extends { readonly path: string }>(entry: T): T => ({
    ...entry,
    path: entry.path === "/" ? base : `${base}${entry.path}`,
  });
  return {
    read: async (path, options) => files.read(inside(path), options),
    readText: async (path, options) => files.readText(inside(path), options),
    digest: async (path, options) => files.digest(inside(path), options),
    stat: async (path, options) => outside(await files.stat(inside(path), options)),
    list: async (path, options) => {
      const { entries, truncated } = await files.list(inside(path), options);
      return { entries: entries.map(outside), truncated };
    },
    async *walk(path, options) {
      const full = posix.resolve("/", path);
      const from = base.startsWith(full === "/" ? full : `${full}/`) ? "/" : inside(full);
      const exclude = options?.exclude?.flatMap((pattern) => withoutBase(pattern, base));
      for await (const batch of files.walk(from, { ...options, ...(exclude && { exclude }) })) yield batch.map(outside);
    },
    fileSystems: async (options) => {
      const { fileSystems, truncated } = await files.fileSystems(options);
      const at = fileSystems.map((one) => ({ ...one, mountPoint: outside({ path: one.mountPoint }).path }));
      return { fileSystems: at, truncated };
    },
  };
}

/** A pattern on the whole path as one on the path in the folder; one that begins with `**` means both. */
function withoutBase(pattern: string, base: string): readonly string[] {
  if (pattern.startsWith(`${base}/`)) return [pattern.slice(base.length)];
  return pattern.startsWith("/**/") ? [pattern] : [];
}
