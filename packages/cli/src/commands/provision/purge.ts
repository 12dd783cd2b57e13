import { existsSync } from "node:fs";
import { join } from "node:path";
import { TrawlerError } from "@trawler/plugin-api";
import { type Purged, purge } from "@trawler/provision";
import type { World } from "../../world.ts";
import { openFolder } from "./cluster.ts";

export interface PurgeOptions {
  readonly state?: string;
  /** Milliseconds. */
  readonly olderThan: number;
  readonly dryRun?: boolean;
  readonly output: "table" | "json";
}

/** Milliseconds. */
const WEEK = 7 * 86_400_000;

/** `trawl provision purge`: forgets runs, and says which. Never one that has something in the cluster. */
export async function purgeRuns(options: PurgeOptions, world: World): Promise<number> {
  const { olderThan, dryRun = false, output } = options;
  const folder = openFolder(options, world);
  if (olderThan < WEEK && existsSync(join(folder.path, "service.db"))) {
    const message = `a service works in ${folder.path}, which answers requests that are made again for a week: --older-than 168h or more`;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", message);
  }
  const gone: Purged[] = [];
  let kept = 0;
  for (const { purged } of purge(folder, { before: world.clock.now() - olderThan, dryRun })) {
    if (purged === null) kept++;
    else gone.push(purged);
  }
  if (output === "json") {
    await world.stdout.write(`${JSON.stringify({ dryRun, purged: gone, kept })}\n`);
    return 0;
  }
  const lines = gone.map(
    ({ instance, state, template, endedAt }) => `${instance}  ${state}  ${template ?? "-"}  ${endedAt}`,
  );
  const what = dryRun ? "would be forgotten" : "forgotten";
  await world.stdout.write([...lines, `${gone.length} ${what}, ${kept} kept`, ""].join("\n"));
  return 0;
}
