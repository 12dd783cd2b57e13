import type { Capability } from "./access.ts";
import type { CrawlerPlugin } from "./crawler.ts";
import type { EmitterPlugin } from "./emitter.ts";
import type { FeatureSchemas } from "./frame.ts";
import { API_VERSION, type EnvironmentPlugin, type ModePlugin, type PluginKind } from "./plugin.ts";
import type { Schema } from "./schema.ts";

type Stamped<P> = P & { readonly api: typeof API_VERSION };
type Draft<P extends { kind: PluginKind }> = Omit<P, "kind">;

/** Defines an environment: where workloads are found and what is known of them. */
export function defineEnvironment<C extends Schema>(draft: Draft<EnvironmentPlugin<C>>): Stamped<EnvironmentPlugin<C>> {
  return Object.freeze({ ...draft, kind: "environment", api: API_VERSION });
}

/** Defines a mode: what one frame is about, and how it is opened. */
export function defineMode<C extends Schema>(draft: Draft<ModePlugin<C>>): Stamped<ModePlugin<C>> {
  return Object.freeze({ ...draft, kind: "mode", api: API_VERSION });
}

/** Defines a crawler: one kind of thing that is read. */
export function defineCrawler<const N extends readonly Capability[], F extends FeatureSchemas, C extends Schema>(
  draft: Draft<CrawlerPlugin<N, F, C>>,
): Stamped<CrawlerPlugin<N, F, C>> {
  return Object.freeze({ ...draft, kind: "crawler", api: API_VERSION });
}

/** Defines an emitter: where frames go. */
export function defineEmitter<C extends Schema>(draft: Draft<EmitterPlugin<C>>): Stamped<EmitterPlugin<C>> {
  return Object.freeze({ ...draft, kind: "emitter", api: API_VERSION });
}
