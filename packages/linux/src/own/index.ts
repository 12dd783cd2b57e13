export { type Confinement, confine, seccompFilter } from "./confine.ts";
export { cleanFileMappings, type Mapping, releaseUnused } from "./memory.ts";
