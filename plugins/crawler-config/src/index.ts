import { defineCrawler, startOf } from "@trawler/plugin-api";
import * as z from "zod";
import { findFiles, fingerprintOf } from "./find.ts";
import { EXCLUDED, EXTENSIONS, KNOWN } from "./known.ts";
import { readConfig } from "./read.ts";

const text = (description: string) => z.string().describe(description);
const paths = (description: string) => z.array(z.string().startsWith("/").max(4096)).max(512).describe(description);

/** Configuration files of a container, of the host or of a folder, one feature for each; the key is the path. */
export default defineCrawler({
  name: "config",
  description: "Reads configuration files, known ones and those that are found by their names, with secrets redacted.",
  config: z.strictObject({
    files: paths(
      "Files to read: paths, or globs on the whole path, where `*` stays within a name and `**` does not.",
    ).default(KNOWN),
    discover: z.boolean().default(false).describe("Files with one of the extensions, too, wherever they are."),
    discoverIn: paths("Folders in which files are found.").default(["/"]),
    extensions: z
      .array(z.string().regex(/^[A-Za-z0-9_-]{1,32}$/))
      .max(64)
      .default(EXTENSIONS)
      .describe("Ends of names, without the dot, by which files are found."),
    discoverMaxBytes: z
      .int()
      .min(1)
      .max(1_048_576)
      .default(204_800)
      .describe("A file that is larger is not taken for configuration; one that `files` names is."),
    exclude: paths("What is not found, with all below: globs on the whole path.").default(EXCLUDED),
    maxFiles: z.int().min(1).max(2000).default(500).describe("Most files of one container."),
    maxBytes: z.int().min(0).max(16_000).default(16_000).describe("Most bytes of one file's content."),
  }),
  scope: "member",
  needs: ["fs", "meta"],
  onChange: true,
  // Some 5 ms a call to find and compare the files alone, and a walk of the whole root with `discover`.
  every: "1m",
  features: {
    config: z.strictObject({
      path: text("As the container sees it, links not resolved."),
      name: text("Its last part."),
      linkTarget: text("Text of a symbolic link.").nullable(),
      "file.size": z.number().nonnegative().nullable().meta({ "x-unit": "By", description: "Size of the file." }),
      modified: text("When the content was changed, RFC 3339; of a link, the link."),
      drift: z
        .boolean()
        .nullable()
        .describe(
          "Changed after its container told that it had started: no longer the image's. Null where there is none.",
        ),
      content: text("Its text, secrets redacted; null where it is not readable or no text.").nullable(),
      truncated: z.boolean().describe("There is more than `maxBytes`."),
      redacted: z.boolean().describe("Something was redacted."),
    }),
  },
  create: (config) => ({
    async *crawl({ fs, meta }, { signal, unchanged, problem }) {
      const found = await findFiles(fs, config, { signal, problem });
      const startedAt = startOf(meta);
      if (unchanged(`${startedAt}\n${await fingerprintOf(fs, found, signal)}`)) return;
      for (const status of found) {
        const value = await readConfig(fs, status, { startedAt, maxBytes: config.maxBytes }, { signal, problem });
        if (value !== null) yield { type: "config", key: status.path, value };
      }
    },
  }),
});
