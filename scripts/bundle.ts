/**
 * `node scripts/bundle.ts [FOLDER] [--all-platforms]`: the agent's production artefact. `trawl.js` is the command;
 * `worker.js` the thread that enters network namespaces, `thread.js` the one that runs a third party's crawler,
 * `crawler-process.js` the process of crawlers that read files, `queue-thread.js` and `writer-thread.js` those of the
 * inventory, `template-thread.js` that of provisioning. What is loaded on first use (each plugin, each client library)
 * stands in a file of its own, as text that is parsed costs memory whether it runs or not; koffi, which has native
 * code, is copied. The folder runs wherever a Node does that trawl supports: `node FOLDER/trawl.js --help`. With
 * `--all-platforms` koffi's code for amd64 and arm64 is fetched from the package registry, so that one bundle serves an
 * image of both.
 */
import { execFileSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { findPackageJSON, isBuiltin } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build, type PluginBuild } from "esbuild";

const root = resolve(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  options: { "all-platforms": { type: "boolean", default: false } },
  allowPositionals: true,
});
const folder = resolve(positionals[0] ?? join(root, "dist", "bundle"));
/** Native or optional: found at run time where they are installed, done without where not. */
const external = ["koffi", "cpu-features", "*.node"];

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await build({
  outdir: folder,
  entryPoints: {
    trawl: join(root, "packages/cli/src/launch.ts"),
    worker: join(root, "packages/linux/src/namespace/worker.ts"),
    thread: join(root, "packages/engine/src/isolation/thread.ts"),
    "crawler-process": join(root, "packages/cli/src/crawler-process.ts"),
    "queue-thread": join(root, "packages/inventory/src/queue/queue-thread.ts"),
    "writer-thread": join(root, "packages/inventory/src/writer/writer-thread.ts"),
    "template-thread": join(root, "packages/provision/src/serve/template-thread.ts"),
  },
  bundle: true,
  splitting: true,
  // In the same folder: threads are found beside the file that starts them.
  chunkNames: "[name]-[hash]",
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
  // Not identifiers: names of classes and functions stand in messages and stacks, and esbuild's way of keeping them sets a
  // property on each function, 256 bytes of heap apiece.
  minifySyntax: true,
  minifyWhitespace: true,
  plugins: [
    { name: "built-in modules", setup: requireBuiltIns },
    { name: "lazy CommonJS", setup: nameExports },
  ],
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

const files = (await readdir(folder)).filter((name) => name.endsWith(".js"));
const sizes = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).size));
const total = sizes.reduce((sum, size) => sum + size, 0);
console.log(`${folder}: ${files.length} files, ${(total / 1024 ** 2).toFixed(1)} MiB`);

/**
 * `import` of a built-in module reads all that it exports, and `node:http` makes its WebSocket on that occasion, with all
 * of Node's own undici: 16 MiB. `require` reads nothing, so the bundle has that instead.
 */
function requireBuiltIns({ onResolve, onLoad }: PluginBuild): void {
  onResolve({ filter: /./ }, ({ kind, path }) => {
    if (!isBuiltin(path)) return;
    if (kind === "require-call") return { path, external: true };
    return { path: path.replace(/^(node:)?/, "node:"), namespace: "built-in" };
  });
  onLoad({ filter: /./, namespace: "built-in" }, ({ path }) => ({ contents: `module.exports = require("${path}");` }));
}

/**
 * A file that is split off exports what its text names, and a CommonJS package names nothing there: `import()` of one goes
 * through a module that does, so that it answers as Node's own `import()` would.
 */
function nameExports({ onResolve, onLoad, resolve: find }: PluginBuild): void {
  onResolve({ filter: /^(@[^/]+\/)?[^./@:]+$/ }, async ({ kind, path, resolveDir }) => {
    if (kind !== "dynamic-import" || external.includes(path)) return;
    const found = await find(path, { kind: "require-call", resolveDir });
    const manifest = findPackageJSON(pathToFileURL(found.path));
    if (found.external || manifest === undefined || found.path.endsWith(".mjs")) return;
    const { type } = JSON.parse(await readFile(manifest, "utf8")) as { type?: string };
    if (type === "module" && !found.path.endsWith(".cjs")) return;
    return { path: found.path, namespace: "named" };
  });
  onLoad({ filter: /.*/, namespace: "named" }, async ({ path }) => {
    const names = Object.keys(await import(pathToFileURL(path).href)).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name));
    const list = names.filter((name) => name !== "default" && name !== "module").join(", ");
    const file = JSON.stringify(path);
    return {
      contents: `const whole = require(${file});\nexport default whole;\nexport const { ${list} } = whole;\n`,
      resolveDir: dirname(path),
    };
  });
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
