import { defineCrawler, type FileSystemStatus } from "@trawler/plugin-api";
import * as z from "zod";

const bytes = (description: string) => z.number().nonnegative().nullable().meta({ "x-unit": "By", description });
const inodes = (description: string) => z.number().nonnegative().nullable().meta({ "x-unit": "{inode}", description });

/** What the kernel makes up; nothing is stored there. */
const PSEUDO = [
  "autofs",
  "binfmt_misc",
  "bpf",
  "cgroup",
  "cgroup2",
  "configfs",
  "debugfs",
  "devpts",
  "devtmpfs",
  "efivarfs",
  "fusectl",
  "hugetlbfs",
  "mqueue",
  "nsfs",
  "proc",
  "pstore",
  "rpc_pipefs",
  "securityfs",
  "selinuxfs",
  "sysfs",
  "tracefs",
];
/** What covers files of the kernel in a container, and where kubelet and runtimes mount what is the containers' own. */
const OF_OTHERS = [
  "/proc/**",
  "/sys/**",
  "/run/netns/**",
  "/**/docker/containers/**",
  "/**/docker/netns/**",
  "/**/docker/overlay2/**",
  "/**/containers/storage/**",
  "/**/io.containerd.*/**",
  "/**/kubelet/pods/**",
];
/** More than a member has. */
const MAX_FILE_SYSTEMS = 256;

/** The file systems that a container or the host has mounted, one feature for each; the key is the mount point. */
export default defineCrawler({
  name: "disk",
  description: "Reads size, use and free space of each file system that a container or the host has mounted.",
  config: z.strictObject({
    exclude: z
      .array(z.string().min(1).max(1024))
      .max(256)
      .default(OF_OTHERS)
      .describe("Mount points to leave out: globs on the whole path; `*` stays within a name, `**` does not."),
    excludeTypes: z
      .array(z.string().min(1).max(64))
      .max(256)
      .default(PSEUDO)
      .describe("Types of file systems to leave out."),
  }),
  scope: "member",
  needs: ["fs"],
  features: {
    filesystem: z.strictObject({
      device: z.string().describe("What is mounted, such as `/dev/sda1`, `overlay` or `tmpfs`."),
      mountPoint: z.string().describe("Where, as the container sees it."),
      fileSystemType: z.string().describe("Such as `ext4`."),
      mountOptions: z.array(z.string()).describe("Such as `ro`, `nosuid`."),
      "filesystem.limit": bytes("Size; null where the file system is a network's and is not asked."),
      "filesystem.usage.used": bytes("In use."),
      "filesystem.usage.free": bytes("Free for everyone."),
      "filesystem.usage.reserved": bytes("Free for root alone."),
      "filesystem.utilization": z
        .number()
        .min(0)
        .max(1)
        .nullable()
        .meta({ "x-unit": "1", description: "Used share of what is used and free for everyone, as df(1) gives it." }),
      "filesystem.inodes.usage.used": inodes("Inodes in use."),
      "filesystem.inodes.usage.free": inodes("Inodes that are free."),
    }),
  },
  create: ({ exclude, excludeTypes }) => ({
    async *crawl({ fs }, { signal, problem }) {
      const { fileSystems, truncated } = await fs.fileSystems({ signal, exclude, excludeTypes });
      for (const status of fileSystems.slice(0, MAX_FILE_SYSTEMS)) {
        yield { type: "filesystem", key: status.mountPoint, value: fileSystemValue(status) };
      }
      if (truncated || fileSystems.length > MAX_FILE_SYSTEMS) {
        problem("truncated", `more than ${Math.min(fileSystems.length, MAX_FILE_SYSTEMS)} file systems`);
      }
    },
  }),
});

function fileSystemValue(status: FileSystemStatus) {
  const { device, mountPoint, type, options, size, used, free, available, inodes: all, inodesFree } = status;
  const usable = used === null || available === null ? 0 : used + available;
  return {
    device,
    mountPoint,
    fileSystemType: type,
    mountOptions: [...options],
    "filesystem.limit": size,
    "filesystem.usage.used": used,
    "filesystem.usage.free": available,
    "filesystem.usage.reserved": free === null || available === null ? null : Math.max(free - available, 0),
    "filesystem.utilization": used === null || usable === 0 ? null : used / usable,
    // A file system without a table of inodes says 0 of 0.
    "filesystem.inodes.usage.used": all === null || inodesFree === null || all === 0 ? null : all - inodesFree,
    "filesystem.inodes.usage.free": all === 0 ? null : inodesFree,
  };
}
