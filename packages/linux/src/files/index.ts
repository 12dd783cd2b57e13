export { LayeredFileSystem } from "./layered.ts";
export { type FileSystemOptions, openFileSystem, openHostFileSystem } from "./open.ts";
export { decodePath, encodePath } from "./path.ts";
export type { ProcessIdentity } from "./pid.ts";
export type { RootedFileSystem } from "./rooted.ts";
