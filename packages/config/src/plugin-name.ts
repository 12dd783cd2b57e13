import type { PluginKind } from "@trawler/plugin-api";

/** A plugin as far as it is known without loading its code. */
export interface PluginName {
  readonly kind: PluginKind;
  readonly name: string;
  readonly description: string;
}
