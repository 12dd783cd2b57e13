import { FORMATS, NAME_DESCRIPTION, NAME_HINT, NAME_TEMPLATE, nameBy } from "@trawler/format";
import { defineEmitter, errorMessage, parseSize, SIZE } from "@trawler/plugin-api";
import * as z from "zod";
import { Compression } from "./compression.ts";
import { fileEmitter } from "./emitter.ts";

export default defineEmitter({
  name: "file",
  description: "Appends frames to a file, as JSON lines or in another format, and starts a new file at a size limit.",
  config: z.strictObject({
    path: z.string().min(1).describe("File to append to; its folder must exist. Made with mode 0600."),
    maxSize: z
      .string()
      .regex(SIZE, "expected a size such as 100MiB")
      .refine((size) => parseSize(size) !== 0, "expected a size such as 100MiB")
      .default("100MiB")
      .describe("Size at which a new file is started."),
    maxFiles: z.int().min(0).max(1000).default(5).describe("Old files kept, `path.1` being the newest."),
    format: z
      .enum(FORMATS)
      .default("json")
      .describe("`json`: the frame itself, one a line; the others are projections of it."),
    name: z.string().regex(NAME_TEMPLATE, NAME_HINT).optional().describe(NAME_DESCRIPTION),
    compression: z
      .enum(["none", "gzip"])
      .default("none")
      .describe("Compression of old files, to `path.1.gz` and so on; the current one stays plain."),
    fsync: z.boolean().default(false).describe("Waits for the disk after each batch."),
  }),
  create({ path, maxSize, maxFiles, format, name, compression, fsync }, { log }) {
    const failed = (error: unknown): void =>
      log.warn({ path }, `an old file stays uncompressed: ${errorMessage(error)}`);
    const gzip = compression === "gzip" ? { compression: new Compression(failed) } : {};
    return fileEmitter({
      path,
      maxSize: parseSize(maxSize) ?? 0,
      maxFiles,
      format,
      nameOf: nameBy(name),
      fsync,
      ...gzip,
    });
  },
});
