import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join, resolve } from "node:path";
import type { Benchmark, BenchmarkResult, BenchmarkRow } from "./benchmark.ts";

const root = resolve(import.meta.dirname, "../../..");
const document = join(root, "docs/benchmarks.md");
const mark = (name: string): readonly [string, string] => [`<!-- bench ${name} -->`, `<!-- end ${name} -->`];

/** Writes a bench's section of docs/benchmarks.md in the place of its last one, else behind the others. */
export function writeSection(bench: Benchmark, result: BenchmarkResult, commit: string): void {
  const text = existsSync(document) ? readFileSync(document, "utf8") : "# Benchmarks\n";
  writeFileSync(document, replaceSection(text, bench.name, section(bench, result, commit)));
}

function replaceSection(text: string, name: string, body: string): string {
  const [begin, end] = mark(name);
  const whole = `${begin}\n\n${body}\n\n${end}`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) return `${text.trimEnd()}\n\n${whole}\n`;
  return text.slice(0, from) + whole + text.slice(to + end.length);
}

function section({ title }: Benchmark, { rows, method, raw }: BenchmarkResult, commit: string): string {
  const figures = raw === undefined ? [] : ["", details(raw)];
  return [
    `## ${title}`,
    "",
    "| what | figure | budget | |",
    "|---|---|---|---|",
    ...rows.map(({ what, figure, budget = "", met }) => `| ${what} | ${figure} | ${budget} | ${verdict(met)} |`),
    "",
    method,
    "",
    `Measured ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC at ${commit} on ${machine()}.`,
    ...figures,
  ].join("\n");
}

function details(raw: unknown): string {
  const short = JSON.stringify(raw, (_, value) => (typeof value === "number" ? Number(value.toPrecision(6)) : value));
  return `<details><summary>Raw figures</summary>\n\n\`\`\`json\n${short}\n\`\`\`\n\n</details>`;
}

function machine(): string {
  const all = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${all.length} × ${all[0]?.model ?? "unknown CPU"}, ${memory} GiB, Linux ${release()}, Node ${process.version}`;
}

/** The rows for a terminal. */
export function showRows(rows: readonly BenchmarkRow[]): string {
  const width = Math.max(...rows.map(({ what }) => what.length));
  return rows
    .map(
      ({ what, figure, budget, met }) =>
        `  ${what.padEnd(width)}  ${figure}${budget === undefined ? "" : `  (budget ${budget}: ${verdict(met)})`}`,
    )
    .join("\n");
}

function verdict(met: boolean | undefined): string {
  if (met === undefined) return "";
  return met ? "met" : "**not met**";
}
