import { failureOf, get, milliseconds, parseExposition, type Sample, STATES, tell } from "@trawler/application";
import { DURATION, defineCrawler, glob } from "@trawler/plugin-api";
import * as z from "zod";
import { wishOf } from "./wish.ts";

/** An endpoint of a large server says about this much; the series that are kept are bounded apart from it. */
const MAX_BODY = 4 * 1024 * 1024;
const ACCEPT = "text/plain; version=0.0.4, application/openmetrics-text; version=1.0.0; q=0.5";

const count = (unit: string, description: string) =>
  z.int().nonnegative().nullable().meta({ "x-unit": unit, description });

const prometheus = z.strictObject({
  state: z.enum(STATES).describe("Only `ok` comes with series."),
  reason: z.string().nullable().describe("Why the state is not `ok`."),
  "server.port": count("1", "Port that was asked."),
  path: z.string().describe("Path that was asked."),
  "prometheus.series": count("{series}", "Series that were chosen and are in the frame."),
  "prometheus.lines.invalid": count("{line}", "Lines that are no sample."),
});

const prometheusSample = z.strictObject({
  name: z.string().describe("Name of the metric, as the endpoint gives it."),
  metricType: z.enum(["counter", "gauge", "histogram", "summary", "untyped"]).describe("As its TYPE line says."),
  labels: z.array(z.string()).readonly().describe('Labels, each `name="value"`, sorted.'),
  value: z.number().meta({ "x-unit": "1", description: "The value; its unit is part of the name, by custom." }),
});

export default defineCrawler({
  name: "prometheus",
  description: "Reads chosen series of the metrics endpoint that a pod's annotation names.",
  config: z.strictObject({
    series: z
      .array(z.string().regex(/^[a-zA-Z0-9_:*?]{1,128}$/, "a metric's name, with * and ? at most"))
      .max(200)
      .default(["*"])
      .describe("Names of the series to keep, as globs; a pod's annotation may choose others."),
    maxSeries: z.int().min(1).max(2_000).default(200).describe("Most series of one pod in a frame."),
    custom: z
      .boolean()
      .default(false)
      .describe("Also heed prometheus.io/scrape, prometheus.io/port and prometheus.io/path."),
    timeout: z.string().regex(DURATION).default("2s").describe("Time for one endpoint, connecting included."),
  }),
  scope: "subject",
  needs: ["net", "meta"],
  features: { prometheus, prometheusSample },
  create: ({ series, maxSeries, custom, timeout }) => ({
    async *crawl({ net, meta }, context) {
      const wish = wishOf(meta.workload.annotations, context, custom);
      if (wish === null) return;
      const { port, path } = wish;
      const key = String(port);
      const { signal } = context;
      const answer = await get(net, {
        port,
        path,
        accept: ACCEPT,
        maxBody: MAX_BODY,
        timeout: milliseconds(timeout),
        signal,
      });
      const base = { "server.port": port, path };
      const failure = failureOf(answer);
      if (failure !== null || answer.status === null) {
        const outcome = failure ?? ({ state: "unexpected", reason: "no answer" } as const);
        tell(outcome, key, context);
        const none = { "prometheus.series": null, "prometheus.lines.invalid": null };
        yield { type: "prometheus", key, value: { ...outcome, ...base, ...none } };
        return;
      }
      const globs = wish.series ?? series;
      const parsed = parseExposition(answer.body, (name) => globs.some((one) => glob(one, name)), maxSeries);
      if (parsed.truncated)
        context.problem("truncated", `${key}: more than ${maxSeries} series were chosen: name fewer`);
      yield {
        type: "prometheus",
        key,
        value: {
          state: "ok" as const,
          reason: null,
          ...base,
          "prometheus.series": parsed.samples.length,
          "prometheus.lines.invalid": parsed.invalid,
        },
      };
      for (const sample of parsed.samples) {
        const { name, type, labels, value } = sample;
        yield {
          type: "prometheusSample",
          key: `${key}/${keyOf(sample)}`,
          value: { name, metricType: type, labels, value },
        };
      }
    },
  }),
});

const keyOf = ({ name, labels }: Sample): string => (labels.length === 0 ? name : `${name}{${labels.join(",")}}`);
