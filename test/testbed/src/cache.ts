import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Progress } from "./progress.ts";

/**
 * Builds a folder once for a key, and answers its path. The folder appears under its name only when it is complete,
 * so a build that was cut off leaves nothing that looks ready.
 */
export const cached = async (
  cache: string,
  { name, key, progress }: { readonly name: string; readonly key: string; readonly progress: Progress },
  build: (folder: string) => Promise<void>,
): Promise<string> => {
  const folder = join(cache, `${name}-${key}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${process.pid}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  progress(`building ${name} (once; kept in ${folder})`);
  try {
    await build(partial);
    renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return folder;
};
