import { type DiskFigures, defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { Rates } from "./rates.ts";

const counter = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });
const rate = (unit: string, description: string) =>
  counter(`${unit}/s`, `${description} a second between the last two readings; null on the first one.`);

const MAX_DISKS = 256;

/** Traffic of the host's disks, one feature for each; the key is the disk's name. */
export default defineCrawler({
  name: "diskio",
  description: "Reads bytes, operations and busy time of each disk of the host.",
  config: z.strictObject({
    partitions: z.boolean().default(false).describe("Partitions, too: what they count their disk counts as well."),
  }),
  scope: "subject",
  needs: ["proc"],
  features: {
    diskio: z.strictObject({
      device: z.string().describe("`major:minor`."),
      "disk.io.read": counter("By", "Bytes read since boot."),
      "disk.io.write": counter("By", "Bytes written."),
      "disk.operations.read": counter("{operation}", "Reads that were completed."),
      "disk.operations.write": counter("{operation}", "Writes that were completed."),
      "disk.merged.read": counter("{operation}", "Reads that were merged into others."),
      "disk.merged.write": counter("{operation}", "Writes that were merged into others."),
      "disk.operation_time.read": counter("s", "Time of all reads together."),
      "disk.operation_time.write": counter("s", "Time of all writes together."),
      "disk.io_time": counter("s", "Time in which the disk was busy."),
      "disk.weighted_io_time": counter("s", "The same, each moment weighted with the operations under way."),
      "disk.pending_operations": counter("{operation}", "Operations under way now."),
      "disk.io.read.rate": rate("By", "Bytes read"),
      "disk.io.write.rate": rate("By", "Bytes written"),
      "disk.operations.read.rate": rate("{operation}", "Reads"),
      "disk.operations.write.rate": rate("{operation}", "Writes"),
      "disk.utilization": counter("1", "Share of time in which the disk was busy between the last two readings."),
    }),
  },
  create: ({ partitions }) => ({
    async *crawl({ proc }, { signal, clock, state, problem }) {
      const disks = (await proc.disks({ signal })).filter(({ partition }) => partitions || !partition);
      const rates = new Rates(state, clock.monotonic());
      for (const disk of disks.slice(0, MAX_DISKS))
        yield { type: "diskio", key: disk.name, value: diskValue(disk, rates) };
      rates.keep();
      if (disks.length > MAX_DISKS) problem("truncated", `${MAX_DISKS} of ${disks.length} disks`);
    },
  }),
});

function diskValue(disk: DiskFigures, rates: Rates) {
  const rateOf = (field: keyof DiskFigures, value: number | null) => rates.of(`${disk.name} ${field}`, value);
  return {
    device: disk.device,
    "disk.io.read": disk.readBytes,
    "disk.io.write": disk.writtenBytes,
    "disk.operations.read": disk.readOperations,
    "disk.operations.write": disk.writeOperations,
    "disk.merged.read": disk.readMerged,
    "disk.merged.write": disk.writeMerged,
    "disk.operation_time.read": disk.readTime,
    "disk.operation_time.write": disk.writeTime,
    "disk.io_time": disk.ioTime,
    "disk.weighted_io_time": disk.weightedIoTime,
    "disk.pending_operations": disk.pending,
    "disk.io.read.rate": rateOf("readBytes", disk.readBytes),
    "disk.io.write.rate": rateOf("writtenBytes", disk.writtenBytes),
    "disk.operations.read.rate": rateOf("readOperations", disk.readOperations),
    "disk.operations.write.rate": rateOf("writeOperations", disk.writeOperations),
    "disk.utilization": rateOf("ioTime", disk.ioTime),
  };
}
