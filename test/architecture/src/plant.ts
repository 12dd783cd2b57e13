import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
const left = new Set(["node_modules", ".git", "dist", "fixtures", ".turbo"]);

/** A copy of the checkout without what is generated or fetched; packages resolve through the original's node_modules. */
export async function copyRepository(): Promise<{ readonly root: string; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), "trawler-architecture-"));
  await cp(repository, root, {
    recursive: true,
    filter: (path) => !left.has(path.split("/").at(-1) ?? "") && !path.endsWith(".tsbuildinfo"),
  });
  await symlink(join(repository, "node_modules"), join(root, "node_modules"));
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

/** Writes one file into the copy and answers how to take it out again. */
export async function plant(root: string, path: string, text: string): Promise<() => Promise<void>> {
  const target = join(root, path);
  if (!dirname(target).startsWith(root)) throw new Error(`${path} leaves the copy`);
  await writeFile(target, text, { flag: "wx" });
  return () => rm(target);
}

/** Runs a tool of the repository in the copy; resolves with its exit code and all that it printed. */
export function tool(root: string, name: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const path = join(repository, "node_modules/.bin", name);
    execFile(path, args, { cwd: root, maxBuffer: 32 << 20, timeout: 240_000 }, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === "number" ? error.code : 1) : 0;
      resolve({ code, output: stdout + stderr });
    });
  });
}
