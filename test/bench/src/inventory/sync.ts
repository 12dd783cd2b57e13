import type { Benchmark, BenchmarkContext, BenchmarkRow } from "../benchmark.ts";
import { startChild } from "./child.ts";
import type { FromCollector, ThreadSeconds, ToCollector } from "./collector.ts";
import { benchFolder } from "./folder.ts";
import type { FromInformer } from "./informer.ts";
import type { FromServer, ToServer } from "./server.ts";

/** One run of one client. */
interface Run {
  readonly pods: number;
  readonly durable: number;
  readonly visible: number;
  readonly cpuSeconds: number;
  readonly heapBytesPerPod: number;
  readonly pss: number;
  readonly rss: number;
  readonly busiest?: ThreadSeconds;
}

const MIB = 1024 * 1024;

/** B55 in sharper figures: it asked for 180 s and 800 MiB at 100,000 pods, and for 1 KB of heap for each. */
export const bench: Benchmark = {
  name: "inventory-sync",
  title: "Inventory: the first list of 100,000 pods (B55)",
  run: async (context) => {
    const whole = context.quick ? 5_000 : 100_000;
    // The informer takes the list in one piece: beyond this its text is longer than a string can be.
    const both = context.quick ? 5_000 : 30_000;
    const full = await collect(whole, context);
    const ours = both === whole ? full : await collect(both, context);
    const streamed = await collect(both, context, "auto");
    const theirs = await inform(both, context);
    return {
      rows: [
        ...wholeRows(full),
        ratio(`time, ${both} pods: durable, to the informer's cache`, ours.durable / theirs.durable, 1 / 3),
        ratio(`time, ${both} pods: visible, to the informer's cache`, ours.visible / theirs.durable),
        ratio(`CPU, ${both} pods, to the informer's`, ours.cpuSeconds / theirs.cpuSeconds),
        ratio(`memory, ${both} pods (Pss), to the informer's`, ours.pss / theirs.pss, 1 / 5),
        ratio(`list as a stream, ${both} pods: time until visible, to pages`, streamed.visible / ours.visible),
        ratio(`list as a stream, ${both} pods: CPU, to pages`, streamed.cpuSeconds / ours.cpuSeconds),
        ratio(`list as a stream, ${both} pods: memory (Pss), to pages`, streamed.pss / ours.pss),
      ],
      method:
        "Pods of 14.5 KB, managed fields included, are served in pages of 500 by a process of its own. Time runs from " +
        "before queue and store are opened until each pod is committed to the queue's file (durable) and until it can " +
        "be asked for (visible). Durable is what the budget is for: from then on nothing is lost, not by kill -9 either; " +
        "the informer has nothing of the kind. Visible has no budget of its own against the informer: by then each pod " +
        "is parsed, cut down, compressed and indexed in a store that is asked for any past time, and the informer has " +
        "its objects in memory and no past. Memory is the largest Pss seen, sampled each 100 ms, and the kernel's own largest RSS. " +
        "The client library's informer lists the same pods from the same server, in one piece, as it does. " +
        "As a stream the same pods come as events on one request (sendInitialEvents).",
      raw: { full, ours, streamed, theirs },
    };
  },
};

function wholeRows({ pods, durable, visible, cpuSeconds, heapBytesPerPod, pss, rss, busiest }: Run): BenchmarkRow[] {
  return [
    { what: `${pods} pods: durable`, figure: `${durable.toFixed(1)} s`, budget: "60 s, then 45 s", met: durable <= 60 },
    { what: `${pods} pods: visible`, figure: `${visible.toFixed(1)} s`, budget: "60 s, then 45 s", met: visible <= 60 },
    {
      what: `${pods} pods: CPU`,
      figure: `${cpuSeconds.toFixed(1)} s, of which the writer's thread ${busiest?.running.toFixed(1)} s; that one waited ${busiest?.waiting.toFixed(1)} s for a CPU that others had`,
    },
    {
      what: `${pods} pods: largest Pss`,
      figure: `${mib(pss)} (RSS ${mib(rss)})`,
      budget: "500 MiB, then 400 MiB",
      met: pss <= 500 * MIB,
    },
    {
      what: "heap that stays for each pod",
      figure: `${Math.round(heapBytesPerPod)} B`,
      budget: "1,024 B",
      met: heapBytesPerPod <= 1024,
    },
  ];
}

function mib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}

function ratio(what: string, value: number, budget?: number): BenchmarkRow {
  return {
    what,
    figure: `${value.toFixed(2)} ×`,
    ...(budget === undefined ? {} : { budget: `≤ ${budget.toFixed(2)} ×`, met: value <= budget }),
  };
}

async function collect(
  pods: number,
  { signal, log }: BenchmarkContext,
  streamingList: "auto" | "off" = "off",
): Promise<Run> {
  using folder = benchFolder();
  await using server = startChild<FromServer, ToServer>("server", [String(pods)], { signal });
  const { url } = await server.next("listening");
  const args = [url, folder.path, String(pods), streamingList];
  await using collector = startChild<FromCollector, ToCollector>("collector", args, { signal });
  const { type: _, ...told } = await collector.next("synced");
  const run = { pods, ...told, ...collector.memory() };
  log(`collector, ${pods} pods, streaming list ${streamingList}: ${JSON.stringify(run)}`);
  return run;
}

async function inform(pods: number, { signal, log }: BenchmarkContext): Promise<Run> {
  await using server = startChild<FromServer, ToServer>("server", [String(pods)], { signal });
  const { url } = await server.next("listening");
  const node = ["--max-old-space-size=12000"];
  await using informer = startChild<FromInformer>("informer", [url, String(pods)], { signal, node });
  const { type: _, seconds, ...told } = await informer.next("synced");
  const run = { pods, durable: seconds, visible: seconds, ...told, ...informer.memory() };
  log(`informer, ${pods} pods: ${JSON.stringify(run)}`);
  return run;
}
