import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cached, cacheFolder, fingerprint, type Progress, run } from "@trawler/testbed";
import { assetPath, readAsset } from "./assets.ts";
import { guestNode, guestPackages, maskedUnits, recipes, release } from "./pins.ts";

const ownFiles = ["init", "vm-start", "vm.service", "vm.target", "system.conf"];
const emptied = ["var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"];

const install = (asset: string, path: string, mode: string): Promise<unknown> =>
  run("install", ["-D", "-m", mode, assetPath(asset), path]);

/** Makes the machine boot straight into the test's programs, with systemd or without. */
const furnish = async (root: string): Promise<void> => {
  for (const folder of emptied)
    for (const entry of readdirSync(join(root, folder))) rmSync(join(root, folder, entry), { recursive: true });
  const units = join(root, "etc/systemd/system");
  await install("init", join(root, "usr/local/sbin/vm-init"), "0755");
  await install("vm-start", join(root, "usr/local/sbin/vm-start"), "0755");
  await install("vm.service", join(units, "vm.service"), "0644");
  await install("vm.target", join(units, "vm.target"), "0644");
  await install("system.conf", join(root, "etc/systemd/system.conf.d/vm.conf"), "0644");
  for (const name of readdirSync(units))
    if (name.endsWith(".wants")) rmSync(join(units, name), { recursive: true, force: true });
  for (const unit of maskedUnits) symlinkSync("/dev/null", join(units, unit));
  symlinkSync("vm.target", join(units, "default.target"));
  mkdirSync(join(root, "etc/systemd/journald.conf.d"), { recursive: true });
  writeFileSync(join(root, "etc/systemd/journald.conf.d/vm.conf"), "[Journal]\nStorage=volatile\n");
  writeFileSync(join(root, "etc/hostname"), `${guestNode}\n`);
  writeFileSync(join(root, "etc/hosts"), `127.0.0.1 localhost ${guestNode}\n`);
  writeFileSync(join(root, "etc/machine-id"), "0123456789abcdef0123456789abcdef\n");
  writeFileSync(join(root, "etc/resolv.conf"), "");
};

/** A minimal Debian with what a node needs, as `root.tar`. Takes about a minute. */
export const buildRoot = async (progress: Progress): Promise<{ readonly archive: string; readonly key: string }> => {
  const key = fingerprint(
    recipes.root,
    release,
    guestNode,
    ...guestPackages,
    ...maskedUnits,
    ...ownFiles.map((name) => readAsset(name)),
  );
  const folder = await cached(cacheFolder(), { name: "vm-root", key, progress }, async (partial) => {
    const root = join(partial, "root");
    await run("debootstrap", ["--variant=minbase", `--include=${guestPackages.join(",")}`, release, root], {
      deadline: 1_500_000,
    });
    await furnish(root);
    await run("tar", ["--numeric-owner", "--xattrs", "-C", root, "-cf", join(partial, "root.tar"), "."], {
      deadline: 300_000,
    });
    rmSync(root, { recursive: true });
  });
  return { archive: join(folder, "root.tar"), key };
};
