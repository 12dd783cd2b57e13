import { createHash } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a whole file or nothing; readers never see half of it. */
export const writeAtomic = (path: string, content: string, mode = 0o644): void => {
  mkdirSync(dirname(path), { recursive: true });
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, content, { mode });
  renameSync(partial, path);
};

/** Twelve hex digits that change when any part changes. */
export const fingerprint = (...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex").slice(0, 12);
};
