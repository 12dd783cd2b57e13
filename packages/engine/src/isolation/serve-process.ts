import type { CrawlerPlugin } from "@trawler/plugin-api";
import type { FromProcess, ToProcess, ToThread } from "./protocol.ts";
import { serveCrawler } from "./serve.ts";

/** Serves the crawlers that the agent names, until its channel closes. `load` takes a crawler's name. */
export function serveProcess(load: (name: string) => Promise<CrawlerPlugin>): void {
  const receivers = new Map<number, (message: ToThread) => void>();
  process.on("disconnect", () => process.exit());
  process.on("message", (told: ToProcess) => {
    const { crawler } = told;
    if ("message" in told) {
      receivers.get(crawler)?.(told.message);
      return;
    }
    void serveCrawler(told.start, () => load(told.start.module), {
      send: (message) => process.send?.({ crawler, message } satisfies FromProcess),
      listen: (receive) => receivers.set(crawler, receive),
    });
  });
}
