/** Everything the virtual machine is made of, pinned. A changed pin changes the cache key of what is built from it. */

/** Raise one when the way that part is built changes. */
export const recipes = { kernel: "1", root: "1", disk: "1" };

export const release = "bookworm";

/** Installed on the machine where missing: what builds and runs the virtual machine. */
export const hostPackages = [
  "qemu-system-x86",
  "debootstrap",
  "e2fsprogs",
  "cpio",
  "kmod",
  "xz-utils",
  "busybox-static",
  "openssl",
];

/** Debian's kernel for virtual machines; downloaded and unpacked, never installed here. */
export const kernelPackage = "linux-image-cloud-amd64";

/** Modules that must be loaded before the root file system can be mounted. */
export const bootModules = ["virtio_pci", "virtio_blk", "ext4"];

/** Packages of the guest's root, systemd and D-Bus for the systemd driver among them. */
export const guestPackages = [
  "systemd-sysv",
  "dbus",
  "runc",
  "containernetworking-plugins",
  "etcd-server",
  "iproute2",
  "libatomic1",
  "libstdc++6",
  "kmod",
];

/** Services that a node in a short-lived machine has no use for. */
export const maskedUnits = [
  "systemd-logind.service",
  "systemd-timesyncd.service",
  "getty.target",
  "e2scrub_reap.service",
  "systemd-journal-flush.service",
  "systemd-random-seed.service",
  "systemd-update-utmp.service",
  "systemd-machine-id-commit.service",
  "systemd-firstboot.service",
  "systemd-binfmt.service",
  "remote-fs.target",
  "systemd-journal-catalog-update.service",
  "systemd-pcrphase.service",
  "systemd-pcrphase-sysinit.service",
  "systemd-boot-system-token.service",
];

export const drivers = ["cgroupfs", "systemd"] as const;

/** Who makes the cgroups of pods: the runtime itself, or systemd, which is process 1 then. */
export type CgroupDriver = (typeof drivers)[number];

/** Two virtual CPUs are what the machine has; memory was seen to suffice with a good third left. */
export const machine = { cpus: 2, megabytes: 2048, outputMegabytes: 64, diskMegabytes: 3000 };

export const guestNode = "node-v2";
