import { spawn } from "node:child_process";
import { openSync, truncateSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Progress, run, TestbedError } from "@trawler/testbed";
import type { GuestParts } from "./build-disk.ts";
import { type CgroupDriver, machine } from "./pins.ts";

export interface MachineOptions {
  readonly guest: GuestParts;
  readonly driver: CgroupDriver;
  readonly dataDisk: string;
  /** Folder for this run's own files. */
  readonly work: string;
  readonly progress: Progress;
  /** Milliseconds until the machine is ended. */
  readonly deadline: number;
}

const processOne: Readonly<Record<CgroupDriver, string>> = {
  cgroupfs: "/usr/local/sbin/vm-init",
  systemd: "/lib/systemd/systemd",
};

/** qemu's arguments. No KVM, which is there in name only on many machines, and no network. */
const machineArguments = ({ guest, driver, dataDisk, work }: MachineOptions): string[] => {
  const drive = (file: string, more: string): string[] => ["-drive", `file=${file},format=raw,if=virtio,${more}`];
  const kernel = [
    "console=ttyS0 quiet panic=-1 psi=1 mitigations=off audit=0 random.trust_cpu=1",
    "systemd.unified_cgroup_hierarchy=1",
    `vm.init=${processOne[driver]}`,
  ];
  return [
    ...["-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max"],
    ...["-smp", String(machine.cpus), "-m", String(machine.megabytes)],
    ...["-nodefaults", "-no-user-config", "-display", "none", "-nic", "none", "-no-reboot"],
    ...["-serial", `file:${join(work, "console.log")}`],
    ...["-kernel", guest.kernel.image, "-initrd", guest.kernel.initrd, "-append", kernel.join(" ")],
    ...drive(guest.disk, "snapshot=on,cache=unsafe"),
    ...drive(join(work, "output.img"), "cache=unsafe"),
    ...drive(dataDisk, "readonly=on"),
  ];
};

/** The guest's own lines, as they come. */
const follow = (console: string, progress: Progress): (() => void) => {
  let seen = 0;
  const timer = setInterval(() => {
    void readFile(console, "utf8").then(
      (text) => {
        const lines = text.split("\n").filter((line) => line.startsWith("VM "));
        for (const line of lines.slice(seen)) progress(line.trim());
        seen = lines.length;
      },
      () => {},
    );
  }, 1_000);
  return () => clearInterval(timer);
};

/** Runs the machine until it has powered itself off, and unpacks what it wrote into `<work>/output`. */
export const runMachine = async (options: MachineOptions): Promise<string> => {
  const { work, progress, deadline } = options;
  const image = join(work, "output.img");
  writeFileSync(image, "");
  truncateSync(image, machine.outputMegabytes * 1024 * 1024);
  const log = openSync(join(work, "qemu.log"), "w");
  // Whatever ends this process ends the machine too.
  const bound = ["--pdeathsig", "KILL", "qemu-system-x86_64"];
  const child = spawn("setpriv", [...bound, ...machineArguments(options)], {
    stdio: ["ignore", log, log],
    // Where the snapshot's changes go.
    env: { ...process.env, TMPDIR: work },
  });
  const stop = follow(join(work, "console.log"), progress);
  const end = (): void => void child.kill("SIGKILL");
  const timer = setTimeout(end, deadline);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (...ended) => resolve(ended));
  }).finally(() => {
    clearTimeout(timer);
    stop();
  });
  if (signal !== null)
    throw new TestbedError(`The virtual machine did not end within ${deadline / 1000} s: ${work}/console.log`);
  if (code !== 0) throw new TestbedError(`qemu ended with ${code}: ${await readFile(join(work, "qemu.log"), "utf8")}`);
  const output = join(work, "output");
  await run("mkdir", [output]);
  await run("tar", ["-C", output, "-xf", image]);
  return output;
};
