import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  buildContainerd,
  buildImages,
  buildKubernetes,
  cached,
  cacheFolder,
  fingerprint,
  type Progress,
  run,
} from "@trawler/testbed";
import { bakeImages } from "./bake-images.ts";
import { buildKernel, type Kernel } from "./build-kernel.ts";
import { buildRoot } from "./build-root.ts";
import { guestPaths } from "./guest/paths.ts";
import { machine, recipes } from "./pins.ts";
import { makePki } from "./pki.ts";

export interface GuestParts {
  readonly kernel: Kernel;
  /** An ext4 file system with the whole node; shared by all runs, which never write to it. */
  readonly disk: string;
}

/** All that does not change between two runs: kernel and root disk. From the cache it takes no time. */
export const buildGuest = async (progress: Progress): Promise<GuestParts> => {
  const kernel = await buildKernel(progress);
  const root = await buildRoot(progress);
  const kubernetes = await buildKubernetes(cacheFolder(), progress);
  const containerd = await buildContainerd(cacheFolder(), progress);
  const images = await buildImages(cacheFolder(), progress);
  const key = fingerprint(
    recipes.disk,
    JSON.stringify([guestPaths, machine.diskMegabytes]),
    ...[kernel.version, root.key, kubernetes, containerd, images.archive],
  );
  const folder = await cached(cacheFolder(), { name: "vm-disk", key, progress }, async (partial) => {
    const stage = join(partial, "root");
    // A unix socket's path has at most 107 bytes.
    const work = mkdtempSync(join(tmpdir(), "vm-"));
    try {
      mkdirSync(stage);
      await run("tar", ["--numeric-owner", "--xattrs", "-C", stage, "-xf", root.archive], { deadline: 300_000 });
      cpSync(kernel.modules, join(stage, "lib/modules"), { recursive: true });
      // Links between the four names stay links: together they are one large program.
      for (const [from, to] of [
        [kubernetes, guestPaths.kubernetes],
        [containerd, guestPaths.containerd],
      ] as const) {
        mkdirSync(join(stage, to), { recursive: true });
        const names = readdirSync(from).filter((name) => name !== "module");
        await run("cp", ["-a", ...names.map((name) => join(from, name)), join(stage, to)], { deadline: 300_000 });
      }
      await makePki(join(stage, guestPaths.pki));
      progress("unpacking the images for the virtual machine");
      await bakeImages({ binaries: containerd, archive: images.archive, work }, join(stage, "var/lib/containerd"));
      progress("writing the virtual machine's disk");
      const disk = join(partial, "disk.ext4");
      await run("truncate", ["-s", `${machine.diskMegabytes}M`, disk]);
      await run("mke2fs", ["-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d", stage, disk], {
        deadline: 900_000,
      });
    } finally {
      for (const leftover of [stage, work]) rmSync(leftover, { recursive: true, force: true });
    }
  });
  return { kernel, disk: join(folder, "disk.ext4") };
};
