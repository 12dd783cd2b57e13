import type { BlockFigures, DiskFigures } from "@trawler/plugin-api";
import { divided, parseCount, scaled } from "./number.ts";

/** The kernel counts in sectors of this size, whatever the disk's own is. */
const SECTOR_BYTES = 512;
const MILLISECONDS = 1000;
const PARTITION = /^(?:(?:sd|hd|vd|xvd)[a-z]+\d+|(?:nvme\d+n\d+|mmcblk\d+|nbd\d+)p\d+)$/;
const NO_DISK = /^(?:loop|ram|zram|sr|fd)\d/;

/** More devices than any machine has. */
const MAX_DISKS = 4096;

/** Whole disks of `/proc/diskstats` that were used since boot. */
export function parseDiskstats(text: string): readonly BlockFigures[] {
  return parseDisks(text)
    .filter(({ partition }) => !partition)
    .map(({ device, readBytes, writtenBytes, readOperations, writeOperations }) => {
      return { device, readBytes, writtenBytes, readOperations, writeOperations };
    });
}

/**
 * Disks and partitions of `/proc/diskstats` (`iostats` of the kernel's documentation; times in milliseconds) that were used
 * since boot. Loop devices, RAM disks and optical drives are left out.
 */
export function parseDisks(text: string): readonly DiskFigures[] {
  const disks: DiskFigures[] = [];
  for (const line of text.split("\n", MAX_DISKS)) {
    const [major, minor, name, ...fields] = line.trim().split(/\s+/);
    if (major === undefined || minor === undefined || name === undefined || NO_DISK.test(name)) continue;
    const field = (index: number): number | null => parseCount(fields[index]);
    if ((field(0) ?? 0) + (field(4) ?? 0) === 0) continue;
    disks.push({
      device: `${major}:${minor}`,
      name,
      partition: PARTITION.test(name),
      readOperations: field(0),
      readMerged: field(1),
      readBytes: scaled(field(2), SECTOR_BYTES),
      readTime: divided(field(3), MILLISECONDS),
      writeOperations: field(4),
      writeMerged: field(5),
      writtenBytes: scaled(field(6), SECTOR_BYTES),
      writeTime: divided(field(7), MILLISECONDS),
      pending: field(8),
      ioTime: divided(field(9), MILLISECONDS),
      weightedIoTime: divided(field(10), MILLISECONDS),
    });
  }
  return disks;
}
