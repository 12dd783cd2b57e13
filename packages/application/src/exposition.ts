type MetricType = "counter" | "gauge" | "histogram" | "summary" | "untyped";

/** One value of one series. */
export interface Sample {
  readonly name: string;
  readonly type: MetricType;
  /** `name="value"` as they stand, sorted by name. */
  readonly labels: readonly string[];
  readonly value: number;
}

/** What a page of metrics holds of the series that were chosen. */
export interface Parsed {
  readonly samples: readonly Sample[];
  /** More series were chosen than the bound allows. */
  readonly truncated: boolean;
  /** Lines that are neither a sample nor a comment. */
  readonly invalid: number;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /^\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\\n]|\\.)*)"\s*(,|(?=\}))/;
const MAX_LINE = 4_096;
const MAX_LABELS = 32;
const SUFFIX = /_(bucket|sum|count|total|created)$/;

/**
 * Prometheus' text format 0.0.4 and OpenMetrics 1.0, as far as they are alike. `chosen` says which names are wanted;
 * what is not finite is left out, as a frame holds no NaN.
 */
export function parseExposition(text: string, chosen: (name: string) => boolean, max: number): Parsed {
  const types = new Map<string, MetricType>();
  const samples: Sample[] = [];
  let invalid = 0;
  for (const line of linesOf(text)) {
    if (line === "" || line === "# EOF") continue;
    if (line.startsWith("#")) {
      const [, name, type] = /^# TYPE (\S+) (counter|gauge|histogram|summary)\s*$/.exec(line) ?? [];
      if (name !== undefined && types.size < 10_000) types.set(name, type as MetricType);
      continue;
    }
    const sample = line.length > MAX_LINE ? null : parseSample(line);
    if (sample === null) {
      invalid += 1;
      continue;
    }
    if (!Number.isFinite(sample.value) || !chosen(sample.name)) continue;
    if (samples.length >= max) return { samples, truncated: true, invalid };
    samples.push({
      ...sample,
      type: types.get(sample.name) ?? types.get(sample.name.replace(SUFFIX, "")) ?? "untyped",
    });
  }
  return { samples, truncated: false, invalid };
}

function* linesOf(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf("\n", start);
    const stop = end === -1 ? text.length : end;
    yield text.slice(start, stop).trim();
    start = stop + 1;
  }
}

function parseSample(line: string): Omit<Sample, "type"> | null {
  const name = NAME.exec(line)?.[0];
  if (name === undefined) return null;
  let rest = line.slice(name.length);
  const labels: string[] = [];
  if (rest.startsWith("{")) {
    rest = rest.slice(1);
    while (!/^\s*\}/.test(rest)) {
      const [whole, label, value] = LABEL.exec(rest) ?? [];
      if (whole === undefined || labels.length >= MAX_LABELS) return null;
      labels.push(`${label}="${value}"`);
      rest = rest.slice(whole.length);
    }
    rest = rest.slice(rest.indexOf("}") + 1);
  }
  const [, text] = /^\s+(\S+)(?:\s+\S+)?(?:\s+#.*)?$/.exec(rest) ?? [];
  const value = text === undefined ? null : numberOf(text);
  return value === null ? null : { name, labels: labels.sort(), value };
}

/** Null where it is none; `NaN` and `Inf` are values of the format. */
function numberOf(text: string): number | null {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  return /^(nan|[+-]?inf(inity)?)$/i.test(text) ? Number.NaN : null;
}
