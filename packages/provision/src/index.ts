export { isRawNumber, type JsonMap, type JsonValue, parseJson, type RawNumber } from "./json.ts";
export { formatFault, isFatal } from "./template/faults.ts";
export { isClusterScoped } from "./template/kinds.ts";
export { maskTemplate, placed } from "./template/mask.ts";
export { processTemplate } from "./template/process.ts";
export { readTemplate } from "./template/read.ts";
export { MASK } from "./template/redact.ts";
export type * from "./template/types.ts";
