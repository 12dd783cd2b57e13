import type { StringMap } from "@trawler/plugin-api";

const PREFIX = "trawler.dev/crawl";
const OTEL = "io.opentelemetry.discovery.metrics";
const MAX_SETTINGS = 4096;

/** What a pod's annotations say about one crawler; `invalid` says why an annotation that is there cannot be used. */
export type Asked =
  | { readonly kind: "none" }
  | { readonly kind: "settings"; readonly settings: Readonly<Record<string, unknown>>; readonly container?: string }
  | { readonly kind: "invalid"; readonly reason: string };

const NONE: Asked = { kind: "none" };

/** `trawler.dev/crawl: "false"` takes a pod out. */
export function optedOut(annotations: StringMap): boolean {
  return annotations[PREFIX]?.trim().toLowerCase() === "false";
}

/** Whether a change of this annotation can change what is crawled. */
export function isCrawlAnnotation(name: string): boolean {
  return name.startsWith(PREFIX) || name.startsWith(OTEL);
}

/** `trawler.dev/crawl.<name>`, else OpenTelemetry's `io.opentelemetry.discovery.metrics[.PORT]/scraper: <name>`. */
export function askedFor(name: string, annotations: StringMap): Asked {
  const own = annotations[`${PREFIX}.${name}`];
  return own === undefined ? askedByOtel(name, annotations) : parseOwn(`${PREFIX}.${name}`, own);
}

function parseOwn(key: string, text: string): Asked {
  if (text.length > MAX_SETTINGS)
    return { kind: "invalid", reason: `${key} is longer than ${MAX_SETTINGS} characters` };
  if (text.trim() === "") return settings({});
  try {
    const parsed: unknown = JSON.parse(text);
    if (parsed === true) return settings({});
    if (parsed === false) return NONE;
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return settings({ ...parsed });
  } catch {
    // Said below, in words of ours: a parser's message would quote the annotation.
  }
  return { kind: "invalid", reason: `${key} is no JSON object` };
}

function settings({ container, ...rest }: Record<string, unknown>): Asked {
  const copy: Record<string, unknown> = Object.assign(Object.create(null), rest);
  return { kind: "settings", settings: copy, ...(typeof container === "string" && { container }) };
}

/** Scope of the receiver creator's annotations: without a port first, then by port. */
function askedByOtel(name: string, annotations: StringMap): Asked {
  const scopes = Object.keys(annotations)
    .filter((key) => key.startsWith(OTEL) && key.endsWith("/scraper") && annotations[key] === name)
    .map((key) => key.slice(0, -"/scraper".length))
    .sort();
  for (const scope of scopes) {
    const enabled = annotations[`${scope}/enabled`] ?? annotations[`${OTEL}/enabled`];
    if (enabled !== "true") continue;
    const port = Number(scope.slice(OTEL.length + 1));
    const config = otelSettings(annotations[`${scope}/config`] ?? "");
    return settings({ ...(port > 0 && port < 65536 && { port }), ...config });
  }
  return NONE;
}

/** Flat `key: value` lines only; of `endpoint` its port and path count, never its host. */
function otelSettings(text: string): Record<string, unknown> {
  const found: Record<string, unknown> = Object.create(null);
  for (const line of text.slice(0, MAX_SETTINGS).split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0 || line.startsWith(" ")) continue;
    const value = line
      .slice(colon + 1)
      .trim()
      .replace(/^(["'])(.*)\1$/, "$2");
    if (line.slice(0, colon) !== "endpoint") found[line.slice(0, colon)] = value;
    else Object.assign(found, endpointSettings(value));
  }
  return found;
}

function endpointSettings(endpoint: string): { port?: number; path?: string } {
  const [, port, path] = /^(?:https?:\/\/)?[^/:]*(?::(\d{1,5}))?(\/\S*)?$/.exec(endpoint) ?? [];
  return { ...(port && { port: Number(port) }), ...(path && { path }) };
}
