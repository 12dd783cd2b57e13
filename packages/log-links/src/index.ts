export { type LogEntry, readIndex } from "./index-file.ts";
export { LinkFolder, prepareFolder } from "./link-folder.ts";
export { DEFAULT_PATHS, type LinkCounts, LogLinker, type LogLinkerOptions } from "./linker.ts";
export { type Member, openMember } from "./member.ts";
export { findRuntimeLog } from "./runtime-log.ts";
