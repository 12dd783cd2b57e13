export { isRawNumber, type JsonMap, type JsonValue, parseJson, type RawNumber } from "./json.ts";
export type * from "./template/types.ts";
