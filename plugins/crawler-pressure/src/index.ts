import { defineCrawler, type Pressure, type Stall, unsupported } from "@trawler/plugin-api";
import * as z from "zod";

const ratio = (description: string) => z.number().min(0).max(1).nullable().meta({ "x-unit": "1", description });
const time = (description: string) => z.number().nonnegative().nullable().meta({ "x-unit": "s", description });

const RESOURCES = ["cpu", "memory", "io"] as const;

/** Time lost by waiting for a resource, one feature for each; the key is the resource. */
export default defineCrawler({
  name: "pressure",
  description: "Reads how much time is lost by waiting for CPU, memory and I/O.",
  config: z.strictObject({}),
  scope: "both",
  needs: ["cgroup"],
  features: {
    pressure: z.strictObject({
      "pressure.some.ratio.10s": ratio("Share of the last 10 s in which at least one thread waited."),
      "pressure.some.ratio.60s": ratio("Share of the last 60 s."),
      "pressure.some.ratio.300s": ratio("Share of the last 300 s."),
      "pressure.some.time": time("Time in which at least one thread waited."),
      "pressure.full.ratio.10s": ratio("Share of the last 10 s in which all threads that were not idle waited."),
      "pressure.full.ratio.60s": ratio("Share of the last 60 s."),
      "pressure.full.ratio.300s": ratio("Share of the last 300 s."),
      "pressure.full.time": time("Time in which all threads that were not idle waited."),
    }),
  },
  create: () => ({
    async *crawl({ cgroup }, { signal }) {
      const figures = await cgroup.pressure({ signal });
      let known = 0;
      for (const key of RESOURCES) {
        const pressure = figures[key];
        if (pressure === null || (pressure.some ?? pressure.full) === null) continue;
        known++;
        yield { type: "pressure", key, value: pressureValue(pressure) };
      }
      if (known === 0) throw unsupported("the kernel keeps no pressure figures here: that takes cgroup v2, and psi=1");
    },
  }),
});

function pressureValue({ some, full }: Pressure) {
  return {
    "pressure.some.ratio.10s": part(some, "average10"),
    "pressure.some.ratio.60s": part(some, "average60"),
    "pressure.some.ratio.300s": part(some, "average300"),
    "pressure.some.time": part(some, "total"),
    "pressure.full.ratio.10s": part(full, "average10"),
    "pressure.full.ratio.60s": part(full, "average60"),
    "pressure.full.ratio.300s": part(full, "average300"),
    "pressure.full.time": part(full, "total"),
  };
}

function part(stall: Stall | null, name: keyof Stall): number | null {
  return stall === null ? null : stall[name];
}
