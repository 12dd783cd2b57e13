import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { testbedUnsupported, testbedUp } from "@trawler/testbed";
import { removeLoad } from "./agent/load.ts";
import type { Benchmark, BenchmarkResult } from "./benchmark.ts";
import { type Baseline, readBaseline, regressions, writeBaseline } from "./gate.ts";
import { showRows, writeSection } from "./report.ts";

const USAGE = `npm run bench -- [names…] [--quick] [--gate] [--baseline] [--list]

Measures on the testbed, which it brings up, and writes docs/benchmarks.md, a section a bench.
  --quick     smaller sizes, nothing written: shows that it works, not how fast
  --gate      fails where the agent's own CPU time or memory is 20 % worse than committed (runs cost)
  --baseline  writes what later gates compare with (runs cost)
  --list      the benches`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    gate: { type: "boolean", default: false },
    baseline: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
const log = (line: string): void => void process.stderr.write(`${line}\n`);
/** Those that are quick first, and those that share pods one after the other. */
const ORDER = ["read", "emit", "cost", "heap", "scale", "latency"];

/** Every module one folder down that exports a `bench`; others are not loaded. */
async function findBenches(): Promise<readonly Benchmark[]> {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
    .filter((file) => /^[^/]+\/[^/]+\.ts$/.test(file))
    .map((file) => join(import.meta.dirname, file))
    .filter((file) => /^export const bench\b/m.test(readFileSync(file, "utf8")));
  const modules = await Promise.all(files.map((file) => import(file) as Promise<{ readonly bench: Benchmark }>));
  const rank = ({ name }: Benchmark): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return modules.map(({ bench }) => bench).toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

function commitNow(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  } catch {
    return "no commit";
  }
}

function baselineOf({ raw }: BenchmarkResult): Baseline {
  const { baseline } = raw as { readonly baseline: Baseline };
  return baseline;
}

/** Answers the exit code. */
async function main(): Promise<number> {
  const benches = await findBenches();
  if (values.help || values.list) {
    console.log(values.help ? USAGE : benches.map(({ name, title }) => `${name.padEnd(20)}${title}`).join("\n"));
    return 0;
  }
  const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name));
  if (unknown.length > 0) {
    log(`there is no bench ${unknown.join(", ")}; there are ${benches.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  const gated = values.gate || values.baseline;
  const wanted = positionals.length > 0 ? positionals : gated ? ["cost"] : benches.map(({ name }) => name);
  const reason = testbedUnsupported();
  if (reason !== undefined) {
    log(`no bench runs here: ${reason}`);
    return 1;
  }
  await testbedUp({ progress: log });
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort(new Error(signal)));
  let failed = false;
  try {
    for (const bench of benches.filter(({ name }) => wanted.includes(name))) {
      log(`\n${bench.name}: ${bench.title}`);
      const began = performance.now();
      try {
        const result = await bench.run({ signal: stop.signal, quick: values.quick, log: (line) => log(`  ${line}`) });
        console.log(`${bench.title}\n${showRows(result.rows)}`);
        log(`  took ${((performance.now() - began) / 1000).toFixed(0)} s`);
        if (!values.quick && !values.gate) writeSection(bench, result, commitNow());
        if (bench.name === "cost" && gated) failed ||= judge(baselineOf(result));
      } catch (error) {
        failed = true;
        log(`  ${bench.name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
      if (stop.signal.aborted) break;
    }
  } finally {
    await removeLoad();
  }
  return failed ? 1 : 0;
}

function judge(now: Baseline): boolean {
  if (values.baseline) writeBaseline(now);
  if (!values.gate) return false;
  const worse = regressions(now, readBaseline());
  for (const line of worse) log(`gate: ${line}`);
  return worse.length > 0;
}

process.exitCode = await main();
// Clients of the broker that a failed bench left must not keep the process.
process.exit();
