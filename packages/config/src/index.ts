export { composeSchema, toJsonSchema } from "./compose.ts";
export { explainSetting, type SettingInfo } from "./explain.ts";
export type { LogLevel } from "./host-settings.ts";
export type { JsonSchema } from "./json-schema.ts";
export { nearest } from "./nearest.ts";
export type { PluginName } from "./plugin-name.ts";
export { type Catalogue, type ReadOptions, readConfiguration } from "./read.ts";
export { type Configuration, defaultSettings, type PipelineSettings, type PluginSettings } from "./settings.ts";
export { duration, parseDuration, parseSize, size } from "./units.ts";
