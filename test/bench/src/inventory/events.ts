import { env } from "node:process";
import type { Benchmark, BenchmarkContext, BenchmarkRow } from "../benchmark.ts";
import { type Child, startChild } from "./child.ts";
import type { FromCollector, ToCollector } from "./collector.ts";
import { benchFolder } from "./folder.ts";
import { percentile } from "./percentile.ts";
import type { FromServer, ToServer } from "./server.ts";

const EVENTS_PER_POD = 4;
/** Minutes of the sustained rate; the issue asks for ten. */
const MINUTES = "TRAWLER_BENCH_MINUTES";

interface Churn {
  readonly seconds: number;
  readonly eventsPerSecond: number;
}

interface Outcome extends Churn {
  readonly sent: number;
  readonly sentSeconds: number;
  readonly lost: number;
  readonly durable: Delays;
  readonly visible: Delays;
  readonly cpuSeconds: number;
}

interface Delays {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

/** B56 in sharper figures: it asked for a p99 of 2 s. */
export const bench: Benchmark = {
  name: "inventory-events",
  title: "Inventory: 1,000 events a second, and a burst (B56)",
  run: async ({ signal, log, quick }) => {
    using folder = benchFolder();
    await using server = startChild<FromServer, ToServer>("server", ["0"], { signal });
    const { url } = await server.next("listening");
    await using collector = startChild<FromCollector, ToCollector>("collector", [url, folder.path, "0"], { signal });
    await collector.next("synced");
    await server.next("watching");
    const processes = { server, collector };
    const minutes = Number(env[MINUTES] ?? 1);
    const steady = await play({ seconds: quick ? 5 : minutes * 60, eventsPerSecond: 1000 }, 0, processes, log);
    const burst = await play({ seconds: 5, eventsPerSecond: 2000 }, steady.sent, processes, log);
    const { pss } = collector.memory();
    return {
      rows: [
        ...rowsOf(`${steady.seconds} s of 1,000 events/s`, steady),
        ...rowsOf("burst of 10,000 events in 5 s", burst),
        { what: "largest Pss", figure: `${Math.round(pss / 1024 / 1024)} MiB` },
      ],
      method:
        "Pods of 14.5 KB are added, changed twice and deleted by a fake server in a process of its own, up to 500 at a " +
        "time. Delays run from the moment at which the event was read from the connection to its commit in the queue " +
        "(durable) and to the commit in the store (visible), for each event. Lost = events of which the records show " +
        `nothing. ${MINUTES} sets the length of the steady part; default 1, the issue asks for 10.`,
      raw: { steady, burst },
    };
  },
};

async function play(
  { seconds, eventsPerSecond }: Churn,
  before: number,
  processes: { readonly server: Child<FromServer, ToServer>; readonly collector: Child<FromCollector, ToCollector> },
  log: BenchmarkContext["log"],
): Promise<Outcome> {
  const { server, collector } = processes;
  const pods = (seconds * eventsPerSecond) / EVENTS_PER_POD;
  const first = before / EVENTS_PER_POD;
  server.send({ type: "churn", pods, first, eventsPerSecond });
  const { events: sent, seconds: sentSeconds } = await server.next("churned");
  collector.send({ type: "settle", events: before + sent });
  const settled = await collector.next("settled");
  // Each record that is closed counts its events; one that is missing or open counts for nothing.
  const lost = before + sent - settled.updates;
  const outcome: Outcome = {
    seconds,
    eventsPerSecond,
    sent,
    sentSeconds,
    lost,
    durable: delaysOf(settled.durable),
    visible: delaysOf(settled.visible),
    cpuSeconds: settled.cpuSeconds,
  };
  log(`${JSON.stringify(outcome)}; ${settled.deleted} records are closed, ${settled.live} live`);
  return outcome;
}

function delaysOf(values: readonly number[]): Delays {
  return { p50: percentile(values, 0.5), p99: percentile(values, 0.99), most: percentile(values, 1) };
}

function rowsOf(what: string, { sent, sentSeconds, lost, durable, visible }: Outcome): BenchmarkRow[] {
  const figure = ({ p50, p99, most }: Delays): string =>
    `p99 ${p99.toFixed(0)} ms (p50 ${p50.toFixed(0)}, most ${most.toFixed(0)})`;
  return [
    {
      what: `${what}: lost`,
      figure: `${lost} of ${sent}, sent in ${sentSeconds.toFixed(1)} s`,
      budget: "0",
      met: lost === 0,
    },
    { what: `${what}: received to durable`, figure: figure(durable), budget: "p99 50 ms", met: durable.p99 <= 50 },
    { what: `${what}: received to visible`, figure: figure(visible), budget: "p99 1 s", met: visible.p99 <= 1000 },
  ];
}
