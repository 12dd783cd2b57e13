import { defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { usage } from "./usage.ts";

const counter = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });

/** CPU of one cgroup: counters as the kernel keeps them, and the rate between two of our own readings. */
export default defineCrawler({
  name: "cpu",
  description: "Reads CPU time, usage, throttling and the limit from the cgroup.",
  config: z.strictObject({}),
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
  },
  create: () => ({
    async *crawl({ cgroup }, { signal, state }) {
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
    },
  }),
});
