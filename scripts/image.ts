/**
 * `node scripts/image.ts [--name NAME:TAG] [--import]`: the agent's image from this checkout and this machine alone: the
 * pinned Node with the libraries that it needs, the bundle, and nothing else: no shell, no package manager, no registry,
 * no daemon. Writes `dist/image/trawler.tar` (an OCI layout) and `dist/image/base.tar` (its root file system, the base
 * that `deploy/Containerfile` takes by `docker import`); with `--import` the testbed's containerd gets it. The name is the
 * one line on standard output.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { addLayer, describeImage } from "./oci.ts";

const root = resolve(import.meta.dirname, "..");
const { version } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8")) as { version: string };
const { values } = parseArgs({
  options: {
    name: { type: "string", default: `docker.io/library/trawler:${version}` },
    import: { type: "boolean", default: false },
  },
});

const work = join(root, "dist", "image");
const blobs = join(work, "blobs", "sha256");
const architecture = process.arch === "x64" ? "amd64" : process.arch;
const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1024 ** 2 });

/** The files below `folder` as one tar, the same bytes for the same files. */
function pack(folder: string, file: string): void {
  const fixed = ["--sort=name", "--mtime=@1704067200", "--numeric-owner", "--owner=+0", "--group=+0"];
  run("tar", ...fixed, "-C", folder, "-cf", file, ".");
}

/** What the dynamic loader brings for a program: the paths that ldd(1) tells. */
function librariesOf(program: string): string[] {
  return [...run("ldd", program).matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = ""]) => path);
}

/** Node, its libraries and the two files that name the image's user. */
async function layBase(folder: string): Promise<void> {
  const node = join(folder, "usr/local/bin/node");
  mkdirSync(dirname(node), { recursive: true });
  copyFileSync(realpathSync(join(root, "node_modules/node/bin/node")), node);
  chmodSync(node, 0o755);
  for (const path of librariesOf(node)) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(realpathSync(path), target);
    chmodSync(target, 0o755);
  }
  for (const name of ["etc", "tmp", "proc", "sys", "dev", "run", "var/lib"]) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  chmodSync(join(folder, "tmp"), 0o1777);
  await writeFile(
    join(folder, "etc/passwd"),
    "root:x:0:0:root:/:/sbin/nologin\ntrawler:x:65532:65532:trawler:/:/sbin/nologin\n",
  );
  await writeFile(join(folder, "etc/group"), "root:x:0:\ntrawler:x:65532:\n");
}

/** The bundle and the command, as `deploy/Containerfile` puts them. */
function layProgram(folder: string): void {
  run(process.execPath, join(root, "scripts/bundle.ts"), join(folder, "opt/trawler"));
  mkdirSync(join(folder, "usr/local/bin"), { recursive: true });
  cpSync(join(root, "deploy/trawl"), join(folder, "usr/local/bin/trawl"));
  chmodSync(join(folder, "usr/local/bin/trawl"), 0o755);
}

/** Gives the testbed's containerd the image. */
function importImage(archive: string): void {
  const testbed = process.env["TRAWLER_TESTBED"] ?? "/var/lib/trawler-testbed";
  const ctr = join(testbed, "bin/ctr");
  if (!existsSync(ctr)) throw new Error(`no testbed is at ${testbed}: npm run testbed -- up`);
  run(ctr, "-a", join(testbed, "containerd/containerd.sock"), "-n", "k8s.io", "images", "import", archive);
}

rmSync(work, { recursive: true, force: true });
mkdirSync(blobs, { recursive: true });
await layBase(join(work, "base"));
layProgram(join(work, "program"));
const archive = join(work, "trawler.tar");
const base = join(work, "base.tar");
const layers = [];
for (const name of ["base", "program"]) {
  pack(join(work, name), join(work, `${name}.layer`));
  layers.push(await addLayer(blobs, join(work, `${name}.layer`)));
}
pack(join(work, "base"), base);
const index = await describeImage({
  name: values.name,
  architecture,
  layers,
  blobs,
  config: {
    User: "65532:65532",
    Env: ["PATH=/usr/local/bin:/usr/bin:/bin", "NODE_ENV=production"],
    Entrypoint: ["node", "--max-semi-space-size=1", "/opt/trawler/trawl.js"],
    Cmd: ["run"],
    WorkingDir: "/",
    ExposedPorts: { "9467/tcp": {} },
    Labels: { "org.opencontainers.image.title": "trawler", "org.opencontainers.image.version": version },
  },
});
await writeFile(join(work, "index.json"), index);
await writeFile(join(work, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
run("tar", "-C", work, "-cf", archive, "oci-layout", "index.json", "blobs");
for (const name of ["base", "program", "blobs", "index.json", "oci-layout"]) {
  rmSync(join(work, name), { recursive: true });
}
if (values.import) importImage(archive);
console.log(values.name);
