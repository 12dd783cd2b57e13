import type { ProcFiles } from "./files.ts";

const MAX_PROCESSES = 32_768;

/** Pids of every process below a `/proc`, in rising order. */
export function hostPids(files: ProcFiles): readonly number[] {
  const names = files.names(".", MAX_PROCESSES + 1024).filter((name) => /^\d+$/.test(name));
  return names
    .map(Number)
    .sort((a, b) => a - b)
    .slice(0, MAX_PROCESSES);
}
