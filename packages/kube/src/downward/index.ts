export { parseQuotedMap, unquote } from "./quoted.ts";
export { type DownwardFacts, type DownwardFiles, type DownwardRequest, readDownward } from "./reader.ts";
