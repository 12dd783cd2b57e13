import { setTimeout as delay } from "node:timers/promises";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import { type InstanceSummary, isOver, type Journal, type Report, type Run } from "@trawler/provision";
import type { World } from "../../world.ts";
import { type ClusterOptions, exitCode, openFolder } from "./cluster.ts";
import { formatReport } from "./report.ts";
import { conduct, type OutputOptions, take } from "./run.ts";

type Options = ClusterOptions & OutputOptions;

const CANCEL_WAIT = 600_000;
const LOG_PAGE = 500;

export async function list(options: Options, world: World): Promise<number> {
  const folder = openFolder(options, world);
  const runs: (Run & { readonly objects: number; readonly running: boolean })[] = [];
  for (const instance of folder.instances()) {
    try {
      using journal = folder.open(instance, true);
      runs.push({ ...journal.run, objects: journal.size, running: folder.isRunning(instance) });
    } catch (error) {
      // One that cannot be read keeps none of the others from being told.
      await world.stderr.write(`trawl: ${errorMessage(error)}\n`);
    }
  }
  if (options.output === "json") {
    await world.stdout.write(`${JSON.stringify(runs)}\n`);
    return 0;
  }
  await world.stdout.write(formatList(runs));
  return 0;
}

export function formatList(runs: readonly InstanceSummary[]): string {
  const rows = runs.map(({ instance, state, running, template, namespace, objects, createdAt }) => [
    instance,
    running || isOver(state) ? state : `${state} (interrupted)`,
    template ?? "-",
    namespace ?? "-",
    String(objects),
    createdAt,
  ]);
  const all = [["INSTANCE", "STATE", "TEMPLATE", "NAMESPACE", "OBJECTS", "CREATED"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

/** The exit code is that of the run. */
export async function status(name: string, options: Options, world: World): Promise<number> {
  const folder = openFolder(options, world);
  using journal = folder.open(folder.find(name), true);
  return await print(reportOf(journal), options, world);
}

export interface LogOptions {
  readonly follow?: boolean;
}

/** 0; with `--follow` the exit code is that of the run, once nobody works on it any more. */
export async function logs(name: string, options: Options & LogOptions, world: World): Promise<number> {
  const folder = openFolder(options, world);
  const instance = folder.find(name);
  using journal = folder.open(instance, true);
  for (let last = 0; ; ) {
    // Asked before the lines are read: those of an end that comes in between are read in the next round.
    const running = options.follow === true && folder.isRunning(instance);
    const events = journal.events(last, LOG_PAGE);
    last = events.at(-1)?.id ?? last;
    for (const { time, text } of events) {
      await world.stdout.write(options.output === "json" ? `${JSON.stringify({ time, text })}\n` : `${time} ${text}\n`);
    }
    if (events.length === LOG_PAGE) continue;
    if (!running) return options.follow === true ? exitCode(journal.run.state) : 0;
    await delay(200);
  }
}

/** Goes on where a run stopped: creates what is missing, or goes on with its rollback. Does nothing where it is over. */
export async function resume(name: string, options: Options, world: World): Promise<number> {
  const folder = openFolder(options, world);
  using taken = take(folder, folder.find(name));
  const { run, sealed } = taken.journal;
  if (run.state === "SUCCEEDED" || run.state === "FAILED" || run.state === "RETIRED") {
    return await print(reportOf(taken.journal), options, world);
  }
  const undoing = run.state === "ROLLING_BACK" || (run.state === "PARTIAL" && run.rollback === "incomplete");
  if (!undoing && sealed === null) throw gone(run.instance);
  return await conduct(taken.journal, undoing ? "undo" : "resume", options, world);
}

/** Asks the process at work to stop and waits for its end; a run that no process works on is rolled back. */
export async function cancel(name: string, options: Options, world: World): Promise<number> {
  const folder = openFolder(options, world);
  const instance = folder.find(name);
  if (folder.isRunning(instance)) {
    using journal = folder.open(instance);
    journal.requestCancel();
    const end = world.clock.monotonic() * 1000 + CANCEL_WAIT;
    while (folder.isRunning(instance)) {
      if (world.clock.monotonic() * 1000 > end) {
        throw new TrawlerError("TRAWLER_BUSY", `instance ${instance} does not end; it was asked to`);
      }
      await delay(200);
    }
    return await print(reportOf(journal), options, world);
  }
  using taken = take(folder, instance);
  if (isOver(taken.journal.run.state)) return await print(reportOf(taken.journal), options, world);
  return await conduct(taken.journal, "undo", options, world);
}

/** Removes what a run that did not succeed has left. */
export async function rollback(name: string, options: Options, world: World): Promise<number> {
  const folder = openFolder(options, world);
  using taken = take(folder, folder.find(name));
  const { state, instance } = taken.journal.run;
  if (state === "SUCCEEDED") {
    const message = `instance ${instance} succeeded: to remove it all the same, trawl provision retire ${instance}`;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", message);
  }
  if (state === "FAILED" || state === "RETIRED") return await print(reportOf(taken.journal), options, world);
  return await conduct(taken.journal, "undo", options, world);
}

/** Removes all that a run made. */
export async function retireRun(name: string, options: Options, world: World): Promise<number> {
  const folder = openFolder(options, world);
  using taken = take(folder, folder.find(name));
  if (taken.journal.run.state === "RETIRED") return await print(reportOf(taken.journal), options, world);
  return await conduct(taken.journal, "retire", options, world);
}

function reportOf(journal: Journal): Report {
  return { ...journal.run, objects: journal.items };
}

async function print(report: Report, { output }: OutputOptions, world: World): Promise<number> {
  await world.stdout.write(output === "json" ? `${JSON.stringify(report)}\n` : formatReport(report));
  return exitCode(report.state);
}

function gone(instance: string): TrawlerError {
  return new TrawlerError(
    "TRAWLER_CONFIG_INVALID",
    `the key of instance ${instance} is lost: it can only be rolled back`,
  );
}
