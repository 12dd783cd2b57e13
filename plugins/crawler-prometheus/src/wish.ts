import type { CrawlContext, StringMap } from "@trawler/plugin-api";

/** An endpoint that a pod asks to be read at. */
export interface Wish {
  readonly port: number;
  readonly path: string;
  /** Globs of series names that the pod wants; null = those of the settings. */
  readonly series: readonly string[] | null;
}

const PATH = /^\/[!-~]{0,255}$/;
const GLOB = /^[a-zA-Z0-9_:*?]{1,128}$/;
const MAX_GLOBS = 50;

/**
 * What a pod's annotations ask for: our own (`trawler.dev/crawl.prometheus: '{"port":9100,"path":"/metrics"}'`), else
 * the custom of `prometheus.io/scrape: "true"` with `prometheus.io/port` and `prometheus.io/path`. Null = nothing, or
 * what cannot be: then `problem` says so.
 */
export function wishOf(
  annotations: StringMap,
  { annotation, problem }: Pick<CrawlContext, "annotation" | "problem">,
  custom: boolean,
): Wish | null {
  const asks = custom && annotations["prometheus.io/scrape"] === "true";
  if (annotation === null && !asks) return null;
  const given = annotation ?? {
    port: annotations["prometheus.io/port"],
    path: annotations["prometheus.io/path"] ?? "/metrics",
  };
  const port = Number(given["port"] ?? Number.NaN);
  const path = given["path"] ?? "/metrics";
  const series = given["series"] ?? null;
  if (!(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    problem("failed", "the pod's annotation names no port number to read metrics at");
    return null;
  }
  if (typeof path !== "string" || !PATH.test(path)) {
    problem("failed", "the pod's annotation names no path to read metrics at");
    return null;
  }
  if (series !== null && !areGlobs(series)) {
    problem("failed", "the annotation's `series` is no list of names, each with * and ? at most");
    return null;
  }
  return { port, path, series };
}

function areGlobs(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_GLOBS &&
    value.every((glob) => typeof glob === "string" && GLOB.test(glob))
  );
}
