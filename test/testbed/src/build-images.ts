import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { assetPath, readAsset } from "./assets.ts";
import { cached } from "./cache.ts";
import { fingerprint } from "./files.ts";
import { type ArchiveImage, archiveFiles } from "./image-archive.ts";
import { busyboxImage, debianImage, nginxImage, pauseMenuImage, redisImage, sandboxImage } from "./pins.ts";
import type { Progress } from "./progress.ts";
import { run } from "./run.ts";

/** Raise it when the way a root file system is made changes. */
const recipe = "1";

const architecture = (): string => (process.arch === "x64" ? "amd64" : process.arch);

/** Packs a root file system into `<folder>/<sha256>.tar` and answers the hash. */
export const packLayer = async (root: string, folder: string): Promise<string> => {
  const partial = join(folder, "layer.partial");
  const fixed = ["--sort=name", "--mtime=@1704067200", "--numeric-owner", "--owner=+0", "--group=+0"];
  const kept = ["--sort=name", "--numeric-owner"];
  const args = root.endsWith("debian") ? kept : fixed;
  await run("tar", [...args, "-C", root, "-cf", partial, "."], { deadline: 300_000 });
  const hash = createHash("sha256");
  await pipeline(createReadStream(partial), hash);
  const layer = hash.digest("hex");
  renameSync(partial, join(folder, `${layer}.tar`));
  return layer;
};

/** A root with one static program that waits for a signal. */
const pauseRoot = async (root: string): Promise<void> => {
  mkdirSync(root, { recursive: true });
  await run("gcc", ["-O2", "-static", "-s", "-o", join(root, "pause"), assetPath("images/pause.c")], {
    deadline: 120_000,
  });
};

const busyboxRoot = async (root: string): Promise<void> => {
  for (const folder of ["bin", "etc", "tmp", "proc", "sys", "dev"]) mkdirSync(join(root, folder), { recursive: true });
  await run("cp", ["/bin/busybox", join(root, "bin", "busybox")]);
  const { stdout } = await run(join(root, "bin", "busybox"), ["--list"]);
  for (const applet of stdout.split("\n"))
    if (applet !== "" && applet !== "busybox") symlinkSync("busybox", join(root, "bin", applet));
  writeFileSync(
    join(root, "etc", "passwd"),
    "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
  );
  writeFileSync(join(root, "etc", "group"), "root:x:0:\nnogroup:x:65534:\n");
};

/** A minimal Debian with these packages, and so with a real package database. Takes minutes. */
export const debianRoot = async (root: string, packages: readonly string[]): Promise<void> => {
  const include = `--include=${packages.join(",")}`;
  await run("debootstrap", ["--variant=minbase", include, debianImage.release, root], { deadline: 1_500_000 });
  for (const folder of ["var/cache/apt", "var/lib/apt/lists"])
    for (const entry of readdirSync(join(root, folder))) rmSync(join(root, folder, entry), { recursive: true });
};

export interface BuiltImages {
  /** A docker-archive with every image of the testbed. */
  readonly archive: string;
  readonly names: readonly string[];
}

const imageNames = [sandboxImage, pauseMenuImage, busyboxImage, redisImage, nginxImage];

/** Makes the images, or finds them in the cache. No registry and no daemon takes part. */
export const buildImages = async (cache: string, progress: Progress): Promise<BuiltImages> => {
  const base = await cached(
    cache,
    { name: "debian", key: fingerprint(recipe, debianImage.release, ...debianImage.packages), progress },
    async (folder) => {
      const root = join(folder, "debian");
      await debianRoot(root, debianImage.packages);
      await packLayer(root, folder);
      rmSync(root, { recursive: true });
    },
  );
  const [debianFile] = readdirSync(base).filter((file) => file.endsWith(".tar"));
  const debian = debianFile?.replace(/\.tar$/, "") ?? "";
  const key = fingerprint(recipe, debian, readAsset("images/pause.c"), ...imageNames, imageSources);
  const folder = await cached(cache, { name: "images", key, progress }, async (partial) => {
    const work = join(partial, "work");
    mkdirSync(work);
    await pauseRoot(join(partial, "pause"));
    await busyboxRoot(join(partial, "busybox"));
    const pause = await packLayer(join(partial, "pause"), work);
    const busybox = await packLayer(join(partial, "busybox"), work);
    symlinkSync(join(base, `${debian}.tar`), join(work, `${debian}.tar`));
    const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
    const files = archiveFiles(imagesOf({ pause, busybox, debian }), architecture(), digest);
    for (const [name, content] of files) writeFileSync(join(work, name), content);
    const names = [...files.keys(), ...[pause, busybox, debian].map((layer) => `${layer}.tar`)];
    await run("tar", ["--dereference", "--numeric-owner", "-C", work, "-cf", join(partial, "images.tar"), ...names], {
      deadline: 300_000,
    });
    for (const leftover of ["work", "pause", "busybox"]) rmSync(join(partial, leftover), { recursive: true });
  });
  return { archive: join(folder, "images.tar"), names: imageNames };
};

const imagesOf = (layers: {
  readonly pause: string;
  readonly busybox: string;
  readonly debian: string;
}): ArchiveImage[] => [
  { name: sandboxImage, layer: layers.pause, entrypoint: ["/pause"] },
  { name: pauseMenuImage, layer: layers.pause, entrypoint: ["/pause"] },
  { name: busyboxImage, layer: layers.busybox, entrypoint: ["/bin/sh"] },
  {
    name: redisImage,
    layer: layers.debian,
    entrypoint: ["/usr/bin/redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--save", ""],
    ports: [6379],
  },
  { name: nginxImage, layer: layers.debian, entrypoint: ["/usr/sbin/nginx", "-g", "daemon off;"], ports: [80] },
];

/** Part of the cache key: the images' configurations, whatever their layers. */
const imageSources = JSON.stringify(imagesOf({ pause: "", busybox: "", debian: "" }));
