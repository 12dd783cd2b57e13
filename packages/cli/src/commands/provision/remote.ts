import type { Accepted, InstanceSummary, Item, Report, Run, Until } from "@trawler/provision";
import { StopSignal } from "../../signals.ts";
import type { World } from "../../world.ts";
import type { ServiceClient } from "./client.ts";
import { exitCode } from "./cluster.ts";
import { formatList, type LogOptions } from "./instances.ts";
import { progress } from "./progress.ts";
import { formatReport } from "./report.ts";
import type { OutputOptions } from "./run.ts";
import { openService, type ServiceOptions } from "./service.ts";

/** The commands on instances, done by a service. What they print, and how they end, is the same. */
type Options = ServiceOptions & OutputOptions;

const PAGE = 200;
/** Milliseconds after a signal at which the command ends whatever happens. */
const GRACE = 5_000;

export async function list(options: Options, world: World): Promise<number> {
  const service = await openService(options, world);
  const runs: InstanceSummary[] = [];
  for (let before: string | null = ""; before !== null; ) {
    const from: string = before === "" ? "" : `&before=${before}`;
    const page = (await service.ask("GET", `/v1/instances?limit=${PAGE}${from}`)) as {
      readonly instances: readonly InstanceSummary[];
      readonly next: string | null;
    };
    runs.push(...page.instances);
    before = page.next;
  }
  runs.reverse();
  await world.stdout.write(options.output === "json" ? `${JSON.stringify(runs)}\n` : formatList(runs));
  return 0;
}

/** The exit code is that of the run. */
export async function status(name: string, options: Options, world: World): Promise<number> {
  return await print(await openService(options, world), name, options, world);
}

export async function logs(name: string, options: Options & LogOptions, world: World): Promise<number> {
  const service = await openService(options, world);
  const follow = options.follow === true;
  for await (const { type, data } of service.events(`${pathOf(name)}/events?follow=${follow}`, 0)) {
    if (type === "end") return exitCode((data as Run).state);
    const { time, text } = data as { readonly time: string; readonly text: string };
    await world.stdout.write(options.output === "json" ? `${JSON.stringify({ time, text })}\n` : `${time} ${text}\n`);
  }
  return 0;
}

export function resume(name: string, options: Options, world: World): Promise<number> {
  return act("resume", name, options, world);
}

export function cancel(name: string, options: Options, world: World): Promise<number> {
  return act("cancel", name, options, world);
}

export function rollback(name: string, options: Options, world: World): Promise<number> {
  return act("rollback", name, options, world);
}

export function retireRun(name: string, options: Options, world: World): Promise<number> {
  return act("retire", name, options, world);
}

/** Asks, shows what comes of it, and prints the report. The service goes on where this command is ended. */
async function act(action: string, name: string, options: Options, world: World): Promise<number> {
  const service = await openService(options, world);
  const accepted = (await service.ask("POST", `${pathOf(name)}/${action}`)) as Accepted;
  return await followToEnd(service, accepted, options, world);
}

/** Shows the events of a run behind one of them, to its end, and prints its report. The exit code is that of the run. */
export async function followToEnd(
  service: ServiceClient,
  { instance, event, begun }: Accepted,
  options: Options & { readonly until?: Until },
  world: World,
): Promise<number> {
  if (begun) {
    let code = 0;
    using stop = new StopSignal(GRACE, (name) => {
      code = name === "SIGTERM" ? 143 : 130;
      void world.stderr.write(`${name}: it goes on in the service; to end it, trawl provision cancel ${instance}\n`);
    });
    await follow(service, `${pathOf(instance)}/events`, event, progress(world, options.until), stop.signal);
    if (code !== 0) return code;
  }
  return await print(service, instance, options, world);
}

async function follow(
  service: ServiceClient,
  path: string,
  after: number,
  watcher: ReturnType<typeof progress>,
  signal: AbortSignal,
): Promise<void> {
  for await (const { type, data } of service.events(path, after, signal)) {
    if (type === "end") break;
    const { object, state } = data as { readonly object?: Item; readonly state?: Run["state"] };
    if (object !== undefined) watcher.item?.(object);
    else if (state !== undefined) watcher.run?.({ ...(data as Run), state });
  }
  watcher.end();
}

async function print(service: ServiceClient, name: string, options: Options, world: World): Promise<number> {
  const report = (await service.ask("GET", pathOf(name))) as Report;
  await world.stdout.write(options.output === "json" ? `${JSON.stringify(report)}\n` : formatReport(report));
  return exitCode(report.state);
}

function pathOf(name: string): string {
  return `/v1/instances/${encodeURIComponent(name)}`;
}
