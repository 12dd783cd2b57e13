import type { CrawlerStatus, Explanation } from "@trawler/engine";
import type { Paint } from "./plan.ts";

/** Why a pod is crawled or not and what came of it, for people. */
export function formatExplanation(found: readonly Explanation[], { strong, name, faint }: Paint): string {
  const row = (label: string, text: string): string => `  ${faint(label.padEnd(12))}${text}`;
  return found
    .map((one) =>
      [
        `${strong(one.name)} ${faint(`${one.kind} ${one.id}, pipeline ${one.pipeline}`)}`,
        row("found by", one.foundBy),
        row("crawled", one.skipped === null ? `yes (${one.phase})` : `no: ${one.skipped}`),
        row("metadata", one.metadata.complete ? "complete" : `incomplete: ${one.metadata.reason ?? "unknown"}`),
        ...Object.entries(one.metadata.groups).map(([group, { source, observedAt }]) =>
          row("", `${group.padEnd(12)}${source.padEnd(10)}${faint(observedAt)}`),
        ),
        row(
          "last frame",
          one.lastFrame
            ? `${one.lastFrame.time} ${one.lastFrame.reason}, number ${one.lastFrame.sequence}`
            : "none yet",
        ),
        ...one.crawlers.map((status, index) => row(index === 0 ? "crawlers" : "", crawlerLine(status, name, faint))),
      ].join("\n"),
    )
    .join("\n\n")
    .concat("\n");
}

function crawlerLine(
  { crawler, result, message, features, seconds }: CrawlerStatus,
  name: Paint["name"],
  faint: Paint["faint"],
): string {
  const count = `${features} ${features === 1 ? "feature" : "features"}`;
  const time = faint(`${(seconds * 1000).toFixed(1)} ms`);
  return `${name(crawler.padEnd(12))}${result.padEnd(12)}${result === "idle" ? "" : `${count.padEnd(14)}${time}`}${message === null ? "" : `  ${message}`}`.trimEnd();
}
