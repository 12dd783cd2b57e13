/**
 * `node scripts/bundle.ts [FOLDER] [--all-platforms]`: the agent's production artefact. `trawl.js` holds the command with
 * all built-in plugins, `kubernetes-client.js` what reads kubeconfig files, `worker.js` the thread that enters network
 * namespaces, `thread.js` the one that runs a third party's crawler; koffi, which has native code, stands beside them. The
 * folder runs wherever a Node does that trawl supports: `node FOLDER/trawl.js --help`. With `--all-platforms` koffi's code
 * for amd64 and arm64 is fetched from the package registry, so that one bundle serves an image of both.
 */
import { execFileSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type BuildOptions, build } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  options: { "all-platforms": { type: "boolean", default: false } },
  allowPositionals: true,
});
const folder = resolve(positionals[0] ?? join(root, "dist", "bundle"));
/** Native or optional: found at run time where they are installed, done without where not. */
const external = ["koffi", "cpu-features", "*.node"];

/** Larger than all the rest, and read for a kubeconfig file only: in the bundle it would cost 16 MiB of memory. */
const APART = /^@kubernetes\/client-node$/;

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const common: BuildOptions = {
  bundle: true,
  platform: "node",
  target: "node24",
  format: "esm",
  conditions: ["@trawler/source"],
  // Packages in CommonJS use names that a module has not.
  banner: {
    js: [
      'import { createRequire as __createRequire } from "node:module";',
      "const require = __createRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;",
    ].join("\n"),
  },
  external,
  legalComments: "linked",
  logLevel: "warning",
  // Names of classes and functions stand in messages.
  keepNames: true,
  minifySyntax: true,
  minifyWhitespace: true,
};
await build({
  ...common,
  outdir: folder,
  entryPoints: {
    trawl: join(root, "packages/cli/src/bin.ts"),
    worker: join(root, "packages/linux/src/namespace/worker.ts"),
    thread: join(root, "packages/engine/src/isolation/thread.ts"),
  },
  plugins: [
    {
      name: "apart",
      setup: ({ onResolve }) =>
        onResolve({ filter: APART }, () => ({ path: "./kubernetes-client.js", external: true })),
    },
  ],
});
await build({
  ...common,
  stdin: { contents: 'export * from "@kubernetes/client-node";', resolveDir: join(root, "packages/kube") },
  outfile: join(folder, "kubernetes-client.js"),
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
if (values["all-platforms"]) for (const platform of ["linux-x64", "linux-arm64"]) await addPlatform(platform);

for (const name of await readdir(folder)) {
  const { size } = await stat(join(folder, name));
  if (name.endsWith(".js")) console.log(`${join(folder, name)}  ${(size / 1024 ** 2).toFixed(1)} MiB`);
}

/** Adds koffi's code for one platform, in the version that is installed. */
async function addPlatform(platform: string): Promise<void> {
  const target = join(folder, "node_modules/@koromix", `koffi-${platform}`);
  const { version } = JSON.parse(await readFile(join(root, "node_modules/koffi/package.json"), "utf8")) as {
    version: string;
  };
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const spec = `@koromix/koffi-${platform}@${version}`;
  const [archive = ""] = execFileSync("npm", ["pack", "--silent", spec], { cwd: folder, encoding: "utf8" }).split("\n");
  execFileSync("tar", ["-xzf", archive, "--strip-components=1", "-C", target], { cwd: folder });
  await rm(join(folder, archive));
}
