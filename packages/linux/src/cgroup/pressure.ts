import type { Pressure, Stall } from "@trawler/plugin-api";

/** `some avg10=1.53 avg60=0.40 avg300=0.09 total=123456`: percent, and microseconds. Null where there is no such file. */
export function parsePressure(text: string | null): Pressure | null {
  if (text === null || text === "") return null;
  return { some: parseStall(text, "some"), full: parseStall(text, "full") };
}

function parseStall(text: string, kind: string): Stall | null {
  const line = text.split("\n").find((one) => one.startsWith(`${kind} `));
  if (line === undefined) return null;
  const values = new Map(line.split(" ").map((word) => [word.split("=")[0], word.split("=")[1]]));
  // Two decimals of a percent: exact to the last digit.
  const ratio = (name: string): number => Math.round(number(values.get(name)) * 100) / 10_000;
  const stall = {
    average10: ratio("avg10"),
    average60: ratio("avg60"),
    average300: ratio("avg300"),
    total: number(values.get("total")) / 1e6,
  };
  return Object.values(stall).every(Number.isFinite) ? stall : null;
}

function number(text: string | undefined): number {
  return text !== undefined && /^\d{1,20}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
}
