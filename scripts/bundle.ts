/**
 * `node scripts/bundle.ts [FOLDER]`: the agent's production artefact. `trawl.js` holds the command with all built-in
 * plugins, `worker.js` the thread that enters network namespaces; koffi, which has native code, stands beside them.
 * A folder that was made so runs on any Node that trawl supports: `node FOLDER/trawl.js --help`.
 */
import { cp, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const folder = resolve(process.argv[2] ?? join(root, "dist", "bundle"));
/** Native or optional: found at run time where they are installed, done without where not. */
const external = ["koffi", "cpu-features", "*.node"];

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await build({
  entryPoints: {
    trawl: join(root, "packages/cli/src/bin.ts"),
    worker: join(root, "packages/linux/src/namespace/worker.ts"),
  },
  outdir: folder,
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  conditions: ["@trawler/source"],
  // Packages in CommonJS ask for Node's own modules by `require`, which a module has not.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module";\nconst require = __createRequire(import.meta.url);',
  },
  external,
  legalComments: "linked",
  logLevel: "warning",
  // Names of classes and functions stand in messages.
  keepNames: true,
  minifySyntax: true,
  minifyWhitespace: true,
});
await writeFile(join(folder, "package.json"), `${JSON.stringify({ private: true, type: "module" })}\n`);
await cp(join(root, "node_modules/koffi"), join(folder, "node_modules/koffi"), {
  recursive: true,
  filter: async (path) => (await stat(path)).isDirectory() || /\.(c?js|json|txt)$/.test(path),
});
for (const name of ["doc", "vendor", "lib"]) {
  await rm(join(folder, "node_modules/koffi", name), { recursive: true, force: true });
}
await cp(join(root, "node_modules/@koromix"), join(folder, "node_modules/@koromix"), { recursive: true });

for (const name of await readdir(folder)) {
  const { size } = await stat(join(folder, name));
  if (name.endsWith(".js")) console.log(`${join(folder, name)}  ${(size / 1024 ** 2).toFixed(1)} MiB`);
}
