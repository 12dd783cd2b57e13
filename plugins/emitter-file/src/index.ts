import { defineEmitter } from "@trawler/plugin-api";
import * as z from "zod";
import { fileEmitter } from "./emitter.ts";

export default defineEmitter({
  name: "file",
  description: "Appends frames to a file as JSON lines and starts a new file at a size limit.",
  config: z.strictObject({
    path: z.string().min(1).describe("File to append to; its folder must exist. Made with mode 0600."),
    maxSize: z
      .string()
      .regex(/^[1-9]\d{0,8}(B|KiB|MiB|GiB)$/)
      .default("100MiB")
      .describe("Size at which a new file is started."),
    maxFiles: z.int().min(0).max(1000).default(5).describe("Old files kept, `path.1` being the newest."),
    fsync: z.boolean().default(false).describe("Waits for the disk after each batch."),
  }),
  create: ({ path, maxSize, maxFiles, fsync }) => fileEmitter({ path, maxSize: bytesOf(maxSize), maxFiles, fsync }),
});

const UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

function bytesOf(size: string): number {
  const [, digits = "", unit = ""] = /^(\d+)(\D+)$/.exec(size) ?? [];
  return Number(digits) * (UNITS[unit] ?? 1);
}
