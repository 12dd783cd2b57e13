export { cleanFileMappings, type Mapping, releaseUnused } from "./memory.ts";
