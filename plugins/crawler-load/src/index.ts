import { defineCrawler, type LoadFigures } from "@trawler/plugin-api";
import * as z from "zod";

const threads = (description: string) =>
  z.number().nonnegative().nullable().meta({ "x-unit": "{thread}", description });

const NO_AVERAGE = "null but for the host: the kernel keeps no average of a container.";

/** How many threads run or wait, of the host or of one container. */
export default defineCrawler({
  name: "load",
  description: "Reads the load averages of the host, and how many threads of each container run or wait.",
  config: z.strictObject({}),
  scope: "member",
  needs: ["proc"],
  features: {
    load: z.strictObject({
      "cpu.load_average.1m": threads(`Threads that run or wait, average over one minute; ${NO_AVERAGE}`),
      "cpu.load_average.5m": threads("The same over five minutes."),
      "cpu.load_average.15m": threads("The same over fifteen minutes."),
      "thread.count": threads("All threads."),
      "thread.count.running": threads("Threads that run or are ready to."),
      "thread.count.uninterruptible": threads("Threads that wait in the kernel, mostly for a disk; null for the host."),
    }),
  },
  create: () => ({
    async *crawl({ proc }, { signal }) {
      const load = await proc.load({ signal });
      if (isKnown(load)) yield { type: "load", key: "load", value: loadValue(load) };
    },
  }),
});

function isKnown(load: LoadFigures): boolean {
  return Object.values(load).some((figure) => figure !== null);
}

function loadValue({ average1, average5, average15, total, running, uninterruptible }: LoadFigures) {
  return {
    "cpu.load_average.1m": average1,
    "cpu.load_average.5m": average5,
    "cpu.load_average.15m": average15,
    "thread.count": total,
    "thread.count.running": running,
    "thread.count.uninterruptible": uninterruptible,
  };
}
