import type { BlockFigures } from "@trawler/plugin-api";
import { parseCount, scaled } from "./number.ts";

/** The kernel counts in sectors of this size, whatever the disk's own is. */
const SECTOR_BYTES = 512;
const PARTITION = /^(?:(?:sd|hd|vd|xvd)[a-z]+\d+|(?:nvme\d+n\d+|mmcblk\d+|nbd\d+)p\d+)$/;
const NO_DISK = /^(?:loop|ram|zram|sr|fd)\d/;

/** Whole disks of `/proc/diskstats` (`diskstats` of the kernel's documentation) that were used since boot. */
export function parseDiskstats(text: string): readonly BlockFigures[] {
  const disks: BlockFigures[] = [];
  for (const line of text.split("\n")) {
    const [major, minor, name, ...fields] = line.trim().split(/\s+/);
    if (major === undefined || minor === undefined || name === undefined) continue;
    if (PARTITION.test(name) || NO_DISK.test(name)) continue;
    const [reads, , readSectors, , writes, , writtenSectors] = fields.map(parseCount);
    if ((reads ?? 0) + (writes ?? 0) === 0) continue;
    disks.push({
      device: `${major}:${minor}`,
      readBytes: scaled(readSectors ?? null, SECTOR_BYTES),
      writtenBytes: scaled(writtenSectors ?? null, SECTOR_BYTES),
      readOperations: reads ?? null,
      writeOperations: writes ?? null,
    });
  }
  return disks;
}
