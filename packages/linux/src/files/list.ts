import { type Dirent, opendirSync } from "node:fs";
import type { FileType } from "@trawler/plugin-api";
import type { Budget } from "./budget.ts";
import { closeQuietly, descriptorPath, reopen } from "./descriptor.ts";

export interface FolderEntry {
  readonly name: Buffer;
  readonly type: FileType;
}

/** At most `max` entries of the folder that an O_PATH descriptor names, in the kernel's order. */
export async function readFolder(
  descriptor: number,
  max: number,
  budget: Budget,
): Promise<{ readonly entries: FolderEntry[]; readonly truncated: boolean }> {
  const folder = reopen(descriptor, "directory");
  try {
    // In Latin-1 each byte is one character: no name is lost.
    const reader = opendirSync(descriptorPath(folder), { encoding: "latin1", bufferSize: 256 });
    try {
      const entries: FolderEntry[] = [];
      for (let entry = reader.readSync(); entry !== null; entry = reader.readSync()) {
        if (entries.length >= max) return { entries, truncated: true };
        entries.push({ name: Buffer.from(entry.name, "latin1"), type: entryType(entry) });
        if (entries.length % 256 === 0) await budget.turn();
      }
      return { entries, truncated: false };
    } finally {
      reader.closeSync();
    }
  } finally {
    closeQuietly(folder);
  }
}

function entryType(entry: Dirent): FileType {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isFIFO()) return "fifo";
  if (entry.isSocket()) return "socket";
  if (entry.isCharacterDevice()) return "character";
  if (entry.isBlockDevice()) return "block";
  return "unknown";
}
