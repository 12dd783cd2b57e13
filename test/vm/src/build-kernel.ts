import { chmodSync, copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { cached, cacheFolder, fingerprint, type Progress, run } from "@trawler/testbed";
import { assetPath, readAsset } from "./assets.ts";
import { bootModules, kernelPackage, recipes } from "./pins.ts";

export interface Kernel {
  readonly image: string;
  readonly initrd: string;
  /** Folder that holds `<version>`, the kernel's modules. */
  readonly modules: string;
  readonly version: string;
}

/** Paths in the answer of `modprobe --show-depends`, in the order in which they must be loaded. */
const modulesToLoad = (answer: string): string[] => [
  ...new Set(
    answer
      .split("\n")
      .filter((line) => line.startsWith("insmod "))
      .map((line) => line.split(/\s+/)[1] ?? ""),
  ),
];

const initrdApplets = ["sh", "mount", "umount", "insmod", "switch_root", "sleep", "cat", "uname", "poweroff"];

const unpackKernel = async (folder: string): Promise<void> => {
  // The package that is asked for is empty and depends on the newest version.
  const { stdout } = await run("apt-cache", ["depends", kernelPackage]);
  const real = /Depends: (linux-image-\S+)/.exec(stdout)?.[1] ?? kernelPackage;
  await run("apt-get", ["download", "-q", real], { cwd: folder, deadline: 600_000 });
  const [archive = ""] = readdirSync(folder).filter((name) => name.endsWith(".deb"));
  await run("dpkg-deb", ["-x", join(folder, archive), join(folder, "unpacked")], { deadline: 300_000 });
};

const makeInitrd = async (folder: string, version: string): Promise<void> => {
  const root = join(folder, "initrd");
  for (const name of ["bin", "dev", "proc", "sys", "root", "modules"]) mkdirSync(join(root, name), { recursive: true });
  copyFileSync("/bin/busybox", join(root, "bin", "busybox"));
  for (const applet of initrdApplets) symlinkSync("busybox", join(root, "bin", applet));
  copyFileSync(assetPath("initrd-init"), join(root, "init"));
  chmodSync(join(root, "init"), 0o755);
  const tree = join(folder, "unpacked");
  const answers = await Promise.all(
    bootModules.map((name) => run("modprobe", ["-d", tree, "-S", version, "--show-depends", name])),
  );
  const files = modulesToLoad(answers.map(({ stdout }) => stdout).join("\n"));
  for (const [index, file] of files.entries()) {
    const copy = join(root, "modules", `${String(index).padStart(2, "0")}-${basename(file)}`);
    copyFileSync(file, copy);
    if (copy.endsWith(".xz")) await run("xz", ["-d", copy]);
  }
  await run("sh", ["-c", `find . | cpio -o -H newc --quiet | gzip -1 > ${join(folder, "initrd.gz")}`], { cwd: root });
};

/** Debian's cloud kernel, its modules and a first root that finds the disk. */
export const buildKernel = async (progress: Progress): Promise<Kernel> => {
  const key = fingerprint(recipes.kernel, kernelPackage, readAsset("initrd-init"), ...bootModules);
  const folder = await cached(cacheFolder(), { name: "vm-kernel", key, progress }, async (partial) => {
    await unpackKernel(partial);
    const tree = join(partial, "unpacked");
    const [version = ""] = readdirSync(join(tree, "lib", "modules"));
    await run("depmod", ["-b", tree, version], { deadline: 300_000 });
    await makeInitrd(partial, version);
    renameSync(join(tree, "boot", `vmlinuz-${version}`), join(partial, "vmlinuz"));
    renameSync(join(tree, "lib", "modules"), join(partial, "modules"));
    for (const name of readdirSync(partial))
      if (!["vmlinuz", "initrd.gz", "modules"].includes(name)) rmSync(join(partial, name), { recursive: true });
  });
  const modules = join(folder, "modules");
  const [version = ""] = readdirSync(modules);
  return { image: join(folder, "vmlinuz"), initrd: join(folder, "initrd.gz"), modules, version };
};
