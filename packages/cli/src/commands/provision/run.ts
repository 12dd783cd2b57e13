import { createInterface } from "node:readline/promises";
import { TrawlerError } from "@trawler/plugin-api";
import {
  Cluster,
  Context,
  type Journal,
  type JournalFolder,
  type Report,
  retire,
  undo,
  work,
} from "@trawler/provision";
import { StopSignal } from "../../signals.ts";
import type { World } from "../../world.ts";
import { type ClusterOptions, exitCode, openCluster } from "./cluster.ts";
import { findInventory, type InventoryOptions } from "./inventory.ts";
import { progress } from "./progress.ts";
import { formatReport } from "./report.ts";

export interface OutputOptions extends InventoryOptions {
  readonly output?: "table" | "json";
  /** Secrets in the template's message. */
  readonly showSecrets?: boolean;
  /** A rollback by policy `deep`, whatever the run was begun with. */
  readonly deep?: boolean;
}

export type Action = "work" | "resume" | "undo" | "retire";

const CANCEL_POLL = 250;
/** Never by time: only a second signal ends the process at once. */
const GRACE = 2 ** 31 - 1;

/**
 * Does an action on a run that this process holds, shows its progress, and prints its report. A first signal cancels: no
 * new requests, then as after a failure. A second one ends the process; the journal knows what may exist.
 */
export async function conduct(
  journal: Journal,
  action: Action,
  options: ClusterOptions & OutputOptions,
  world: World,
): Promise<number> {
  const { settings, server } = journal.run;
  using client = await openCluster(options, world, settings.parallel);
  const cluster = new Cluster(client, options.requestTimeout);
  if (cluster.server !== server) {
    const message = `this run is of the cluster at ${server}, not of ${cluster.server}: name its kubeconfig`;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", message);
  }
  // Asked of an earlier process.
  if (action !== "work") journal.requestCancel(false);
  const cancel = new AbortController();
  using stop = new StopSignal(GRACE, (name) => {
    void world.stderr.write(`${name}: cancelling; once more to end at once\n`);
    cancel.abort();
  });
  const poll = setInterval(() => {
    if (journal.cancelRequested) cancel.abort();
  }, CANCEL_POLL);
  const watcher = progress(world, settings.until);
  try {
    const inventory = action === "work" || action === "resume" ? await findInventory(options, cluster, world) : null;
    const context = new Context({ cluster, journal, clock: world.clock, cancel: cancel.signal, watcher, inventory });
    const message = context.sealed?.message ?? null;
    if (options.deep === true) context.setRun({ settings: { ...settings, rollback: "deep" } });
    const report = await perform(context, action, stop.signal, world);
    watcher.end();
    const clean = message === null || options.showSecrets === true ? message : context.redact(message);
    const shown = report.state === "SUCCEEDED" && clean !== null ? `\n${clean.trim()}\n` : "";
    const text = options.output === "json" ? `${JSON.stringify(report)}\n` : `${formatReport(report)}${shown}`;
    await world.stdout.write(text);
    return exitCode(report.state);
  } finally {
    clearInterval(poll);
  }
}

function perform(context: Context, action: Action, stop: AbortSignal, world: World): Promise<Report> {
  if (action === "undo") return undo(context, stop);
  if (action === "retire") return retire(context, stop);
  return work(context, { resumed: action === "resume", ask: () => ask(world) });
}

async function ask({ stderr }: World): Promise<boolean> {
  if (!stderr.terminal || !process.stdin.isTTY) return false;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question("Remove what was created? [y/N] ")).trim());
  } finally {
    lines.close();
  }
}

/** Opens a run for this process. Throws TRAWLER_BUSY while another one works on it. */
export function take(folder: JournalFolder, instance: string): Disposable & { readonly journal: Journal } {
  const lock = folder.lock(instance);
  if (lock === null) throw new TrawlerError("TRAWLER_BUSY", `instance ${instance} is at work in another process`);
  const journal = folder.open(instance);
  return {
    journal,
    [Symbol.dispose]: () => {
      journal[Symbol.dispose]();
      lock[Symbol.dispose]();
    },
  };
}
