import { defineCrawler, errorMessage, parseSize, partProblem, SIZE, statFingerprint } from "@trawler/plugin-api";
import * as z from "zod";
import { findArchives } from "./find.ts";
import { KnownArchives } from "./known.ts";
import { readFile, UNREAD } from "./read.ts";

/** Texts of 64 characters, as many as a field of a frame holds. */
const MOST_CLASSES = 240;
const EXCLUDED = ["/boot", "/dev", "/proc", "/sys", "/mnt", "/tmp", "/var/cache", "/usr/share/man", "/usr/share/doc"];

const paths = (description: string) => z.array(z.string().startsWith("/").max(4096)).max(256).describe(description);
const figure = (unit: string, description: string) =>
  z.int().nonnegative().nullable().meta({ "x-unit": unit, description });
const text = (description: string) => z.string().describe(description);

/** Java archives with the digests of their files and of their classes. */
export default defineCrawler({
  name: "jar",
  description: "Hashes Java archives and their classes.",
  config: z.strictObject({
    paths: paths("Folders to walk; a walk stays on the file system that it begins on.").default(["/"]),
    exclude: paths("What to leave out with all below: globs on the whole path.").default(EXCLUDED),
    extensions: z
      .array(z.string().startsWith(".").max(16))
      .min(1)
      .max(16)
      .default([".jar", ".war", ".ear"])
      .describe("Ends of the names of archives."),
    algorithm: z.enum(["sha256", "md5"]).default("sha256").describe("Of all digests."),
    max: z.int().min(1).max(5000).default(500).describe("Most archives of one container, in the order of the walk."),
    maxClasses: z
      .int()
      .min(0)
      .max(MOST_CLASSES)
      .default(100)
      .describe("Most digests of classes that stand in one feature; `classesDigest` covers all."),
    maxBytes: z
      .string()
      .regex(SIZE)
      .default("256MiB")
      .describe("Bytes of archives and, again, of classes that one crawl reads; beyond, archives are only listed."),
  }),
  scope: "member",
  needs: ["fs"],
  onChange: true,
  // A walk of the whole root each time: some 30 µs a file.
  every: "5m",
  features: {
    jar: z.strictObject({
      path: text("As the container sees it."),
      name: text("Its last part."),
      "file.size": z.int().nonnegative().meta({ "x-unit": "By", description: "Size." }),
      digest: text("`sha256:…` or `md5:…` of the file; null where it cannot be read whole.").nullable(),
      classes: figure("{class}", "Classes in it, those of archives inside left out; null where it cannot be read."),
      classDigests: z.array(z.string()).readonly().describe("Digests of the first classes, in the archive's order."),
      classesDigest: text(
        "Digest of the digests of all classes, a line for each; null where one is not known.",
      ).nullable(),
      archives: z.array(z.string()).readonly().describe("Names of archives inside it, such as those of `WEB-INF/lib`."),
    }),
  },
  create: ({ algorithm, extensions, max, maxBytes, maxClasses, ...where }) => {
    const isArchive = (name: string): boolean => extensions.some((end) => name.toLowerCase().endsWith(end));
    const most = parseSize(maxBytes) ?? 0;
    const known = new KnownArchives();
    return {
      async *crawl({ fs }, { signal, unchanged, problem }) {
        const failures: unknown[] = [];
        const failed = (error: unknown) => failures.push(error);
        const { archives, truncated } = await findArchives(fs, { ...where, isArchive, max, signal, failed });
        if (unchanged(statFingerprint(archives))) return;
        if (archives.length === 0 && failures.length > 0) throw failures[0];
        for (const error of failures) problem(partProblem(error), errorMessage(error));
        if (truncated) problem("truncated", `more than ${max} archives`);
        const allowance = { left: most };
        const options = { algorithm, isArchive, allowance, maxBytes: most, maxClasses, problem, signal };
        let left = most;
        let unread = 0;
        for (const status of archives) {
          let archive = known.get(status);
          if (archive === undefined) {
            left -= status.size;
            if (left < 0) unread++;
            archive = left < 0 ? UNREAD : await readFile(fs, status, options);
            known.add(status, archive);
          }
          const { path, size } = status;
          const name = path.slice(path.lastIndexOf("/") + 1);
          yield { type: "jar", key: path, value: { path, name, "file.size": size, ...archive } };
        }
        if (unread > 0)
          problem("truncated", `${unread} archives were not read: together they are larger than ${maxBytes}`);
      },
    };
  },
});
