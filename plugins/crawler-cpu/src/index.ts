import { defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { processorSchema, processorValue, readProcessors } from "./processors.ts";
import { usage } from "./usage.ts";

const counter = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });

/** Two readings of each are kept. */
const MAX_PROCESSORS = 1024;

/** CPU of one cgroup: counters as the kernel keeps them, and the rate between two of our own readings. */
export default defineCrawler({
  name: "cpu",
  description: "Reads CPU time, usage, throttling and the limit from the cgroup.",
  config: z.strictObject({
    processors: z.boolean().default(false).describe("Each logical processor of the host, too."),
  }),
  scope: "both",
  needs: ["cgroup"],
  features: {
    cpu: z.strictObject({
      "cpu.time": counter("s", "CPU time since the cgroup was made."),
      "cpu.time.user": counter("s", "CPU time in user mode."),
      "cpu.time.system": counter("s", "CPU time in the kernel."),
      "cpu.usage": counter("{cpu}", "CPUs in use between the last two readings; null on the first one."),
      "cpu.throttling.periods": counter("{period}", "Enforcement periods of the CPU limit."),
      "cpu.throttling.throttled_periods": counter("{period}", "Periods in which the limit was reached."),
      "cpu.throttling.time": counter("s", "Time during which threads were held back by the limit."),
      "cpu.limit": counter("{cpu}", "CPU limit; null where there is none."),
    }),
    processor: processorSchema,
  },
  create: ({ processors }) => ({
    async *crawl({ cgroup }, { signal, state, problem }) {
      const figures = await cgroup.cpu({ signal });
      // A cgroup without the cpu controller tells nothing: silence, not a row of nulls.
      if (figures.time === null && figures.periods === null && figures.limit === null) return;
      yield {
        type: "cpu",
        key: "cpu",
        value: {
          "cpu.time": figures.time,
          "cpu.time.user": figures.user,
          "cpu.time.system": figures.system,
          "cpu.usage": usage(figures, state),
          "cpu.throttling.periods": figures.periods,
          "cpu.throttling.throttled_periods": figures.throttledPeriods,
          "cpu.throttling.time": figures.throttledTime,
          "cpu.limit": figures.limit,
        },
      };
      if (!processors) return;
      const found = await readProcessors(cgroup, { signal });
      for (const processor of found.slice(0, MAX_PROCESSORS))
        yield { type: "processor", key: `cpu-${processor.number}`, value: processorValue(processor, state) };
      if (found.length > MAX_PROCESSORS) problem("truncated", `${MAX_PROCESSORS} of ${found.length} processors`);
    },
  }),
});
