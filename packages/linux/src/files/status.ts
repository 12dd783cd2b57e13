import type { Stats } from "node:fs";
import type { FileStatus } from "@trawler/plugin-api";
import { fileType } from "./descriptor.ts";
import type { Owners } from "./owners.ts";

const YEAR_9999 = 253_402_300_799_999;

/** Plain data of one file. `link` is the encoded text of a symbolic link. */
export function fileStatus(path: string, stats: Stats, link: string | null, owners: Owners): FileStatus {
  return {
    path,
    type: fileType(stats),
    size: stats.size,
    mode: stats.mode & 0o7777,
    userId: owners.user(stats.uid),
    groupId: owners.group(stats.gid),
    hostUserId: stats.uid,
    hostGroupId: stats.gid,
    modified: timestamp(stats.mtimeMs),
    changed: timestamp(stats.ctimeMs),
    accessed: timestamp(stats.atimeMs),
    link,
  };
}

/** RFC 3339; a file may claim any year, the format has four digits for it. */
function timestamp(milliseconds: number): string {
  const bounded = Math.min(Math.max(Math.trunc(milliseconds), -62_167_219_200_000), YEAR_9999);
  return new Date(Number.isFinite(bounded) ? bounded : 0).toISOString();
}
