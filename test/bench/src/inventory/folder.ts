import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder on the disk that goes with the benchmark. */
export function benchFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "trawler-bench-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
