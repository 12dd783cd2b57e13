import { cpSync, mkdirSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";

const folderOf = (name: string): string => dirname(findPackageJSON(name, import.meta.url) ?? "");

const common: BuildOptions = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node24",
  conditions: ["@trawler/source"],
  logLevel: "error",
  // What is CommonJS inside asks for Node's own modules with `require`.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; globalThis.require ??= requireFrom(import.meta.url);',
  },
};

/** Bundles `trawl` and the thread that it starts into `<folder>/trawl`, with the FFI's binary beside. */
const bundleTrawl = async (folder: string): Promise<void> => {
  await build({
    ...common,
    entryPoints: {
      trawl: join(folderOf("@trawler/cli"), "src/bin.ts"),
      worker: join(folderOf("@trawler/linux"), "src/namespace/worker.ts"),
    },
    outdir: folder,
    splitting: true,
    external: ["koffi", "cpu-features", "*.node"],
  });
  for (const name of ["koffi", "@koromix/koffi-linux-x64"])
    cpSync(join(folderOf("koffi"), "..", name), join(folder, "node_modules", name), { recursive: true });
};

/** The programs that go into the guest: `trawl` and the guest's own. */
export const bundlePrograms = async (folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  await bundleTrawl(join(folder, "trawl"));
  const entry = fileURLToPath(new URL("guest/main.ts", import.meta.url));
  await build({ ...common, entryPoints: { main: entry }, outdir: join(folder, "guest") });
};
