import { defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";

const figure = (unit: string, description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": unit, description });

/** Memory of one cgroup. Null = the kernel or the controller does not say; a limit of null = none is set. */
export default defineCrawler({
  name: "memory",
  description: "Reads memory use, limits, page faults and out-of-memory events from the cgroup.",
  config: z.strictObject({}),
  scope: "both",
  needs: ["cgroup"],
  features: {
    memory: z.strictObject({
      "memory.usage": figure("By", "All memory charged, page cache included."),
      "memory.working_set": figure("By", "Usage without inactive file pages, not below 0."),
      "memory.rss": figure("By", "Anonymous memory."),
      "memory.cache": figure("By", "Page cache, shared memory included."),
      "memory.shared": figure("By", "Shared memory and tmpfs: cache that cannot be reclaimed."),
      "memory.swap": figure("By", "Swap in use."),
      "memory.peak": figure("By", "Highest usage so far."),
      "memory.limit": figure("By", "Limit of this cgroup."),
      "memory.effective_limit": figure("By", "Smallest limit of this cgroup and those above it."),
      "memory.available": figure("By", "Effective limit minus working set, not below 0."),
      "paging.faults.minor": figure("{fault}", "Page faults served without reading from disk."),
      "paging.faults.major": figure("{fault}", "Page faults that read from disk."),
      "memory.oom": figure("{event}", "Times that the limit was reached and an allocation was about to fail."),
      "memory.oom_kills": figure("{event}", "Processes killed for lack of memory."),
    }),
  },
  create: () => ({
    async *crawl({ cgroup }, { signal }) {
      const figures = await cgroup.memory({ signal });
      if (Object.values(figures).every((value) => value === null)) return;
      const { effectiveLimit, workingSet } = figures;
      yield {
        type: "memory",
        key: "memory",
        value: {
          "memory.usage": figures.usage,
          "memory.working_set": workingSet,
          "memory.rss": figures.rss,
          "memory.cache": figures.cache,
          "memory.shared": figures.shared,
          "memory.swap": figures.swap,
          "memory.peak": figures.peak,
          "memory.limit": figures.limit,
          "memory.effective_limit": effectiveLimit,
          "memory.available":
            effectiveLimit === null || workingSet === null ? null : Math.max(0, effectiveLimit - workingSet),
          "paging.faults.minor": figures.minorFaults,
          "paging.faults.major": figures.majorFaults,
          "memory.oom": figures.outOfMemory,
          "memory.oom_kills": figures.outOfMemoryKills,
        },
      };
    },
  }),
});
