import { type LogEntry, readIndex } from "@trawler/log-links";
import type { World } from "../../world.ts";

export interface LogsListOptions {
  readonly folder: string;
  readonly json?: boolean;
}

/** `trawl logs list`: the index of a folder of links. 0, or 1 where there is no index. */
export async function logsList({ folder, json = false }: LogsListOptions, { stdout, stderr }: World): Promise<number> {
  const index = readIndex(folder);
  if (index === null) {
    await stderr.write(
      `trawl: there is no index in ${folder}: trawl logs link makes one, --folder names another folder\n`,
    );
    return 1;
  }
  await stdout.write(json ? `${JSON.stringify(index.logs, null, 2)}\n` : index.logs.map(line).join(""));
  return 0;
}

/** Paths come out of containers: nothing in them may steer a terminal. */
function line({ state, link, container, path, reason, target }: LogEntry): string {
  const text = `${state.padEnd(8)} ${link ?? `${container} ${path}`} ${state === "linked" ? `-> ${target ?? "(could not be set)"}` : (reason ?? "")}`;
  return `${text.trimEnd().replace(/\p{Cc}/gu, "?")}\n`;
}
