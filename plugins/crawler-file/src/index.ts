import { defineCrawler, isDrift, startOf } from "@trawler/plugin-api";
import * as z from "zod";
import { DigestCache } from "./digests.ts";
import { baseName, walkFiles } from "./walk.ts";

const id = (description: string) => z.number().nonnegative().meta({ "x-unit": "1", description });
const text = (description: string) => z.string().describe(description);
const paths = (description: string) => z.array(z.string().startsWith("/").max(4096)).max(256).describe(description);

/** As the folders that hold nothing of an image's own, or what nobody compares. */
const EXCLUDED = [
  "/boot",
  "/dev",
  "/proc",
  "/sys",
  "/mnt",
  "/tmp",
  "/var/cache",
  "/usr/share/man",
  "/usr/share/doc",
  "/usr/share/mime",
];

/** Files of a container, of the host or of a folder, one feature for each; the key is the path. */
export default defineCrawler({
  name: "file",
  description: "Lists files with type, mode, owners, size, times and, where wanted, a digest of their bytes.",
  config: z.strictObject({
    paths: paths(
      "Folders to walk. A walk stays on the file system that it begins on: name a volume to have its files.",
    ).default(["/"]),
    exclude: paths(
      "What to leave out with all below: globs on the whole path; `*` stays within a name, `**` does not.",
    ).default(EXCLUDED),
    maxFiles: z
      .int()
      .min(1)
      .max(10_000)
      .default(5000)
      .describe("Most files of one container, in the order of the walk."),
    maxDepth: z.int().min(0).max(128).default(64).describe("Folders below one of the paths."),
    digest: z.enum(["none", "sha256", "md5"]).default("none").describe("Digest of the bytes of regular files."),
    digestPaths: paths("Which files have a digest: globs on the whole path.").default(["/**"]),
    digestMaxBytes: z
      .int()
      .min(1)
      .max(268_435_456)
      .default(16_777_216)
      .describe("A file that is larger has no digest."),
    accessTime: z
      .boolean()
      .default(false)
      .describe("When files were last read, too: then each reading is a change that is sent."),
  }),
  scope: "member",
  needs: ["fs", "meta"],
  onChange: true,
  // A walk of the whole root each time: some 30 µs a file.
  every: "5m",
  features: {
    file: z.strictObject({
      path: text("As the container sees it; a byte that is no UTF-8 stands as `\\xNN`."),
      name: text("Its last part; empty for the root."),
      fileType: z
        .enum(["file", "directory", "symlink", "fifo", "socket", "character", "block", "unknown"])
        .describe("What it is."),
      linkTarget: text("Text of a symbolic link.").nullable(),
      mode: text("Permissions, octal, such as `0644`."),
      "file.size": z.number().nonnegative().meta({ "x-unit": "By", description: "Size." }),
      "user.id": id("Owner, as the container sees it; 65534 where its user namespace does not map it."),
      "group.id": id("Group, as the container sees it."),
      "host.user.id": id("Owner in the node's user namespace."),
      "host.group.id": id("Group in the node's user namespace."),
      modified: text("When the content was changed, RFC 3339."),
      changed: text("When content, owner, mode or links were changed, RFC 3339."),
      drift: z
        .boolean()
        .nullable()
        .describe(
          "Changed after its container told that it had started: no longer the image's. Null where there is none.",
        ),
      accessed: text("When it was read, RFC 3339; null unless wanted.").nullable(),
      digest: text("`sha256:…` or `md5:…` of the bytes; null where not wanted, too large or not readable.").nullable(),
    }),
  },
  create: (config, { clock }) => {
    const digests = new DigestCache(config, clock);
    return {
      async *crawl({ fs, meta }, { signal, problem }) {
        const member = meta.container?.id ?? meta.workload.id;
        const startedAt = startOf(meta);
        for await (const status of walkFiles(fs, config, { signal, problem })) {
          yield {
            type: "file",
            key: status.path,
            value: {
              path: status.path,
              name: baseName(status.path),
              fileType: status.type,
              linkTarget: status.link,
              mode: status.mode.toString(8).padStart(4, "0"),
              "file.size": status.size,
              "user.id": status.userId,
              "group.id": status.groupId,
              "host.user.id": status.hostUserId,
              "host.group.id": status.hostGroupId,
              modified: status.modified,
              changed: status.changed,
              drift: isDrift(status.changed, startedAt),
              accessed: config.accessTime ? status.accessed : null,
              digest: await digests.of(fs, member, status, signal),
            },
          };
        }
      },
    };
  },
});
