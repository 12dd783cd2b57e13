import type { Envelope, Feature, Frame } from "@trawler/plugin-api";

const ESC = "\u001b[";
const COLOURS = { started: "32", changed: "36", ended: "33", interval: "2", problem: "31" } as const;
// Control, bidirectional and line separator characters: a hostile name must not steer the terminal.
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const MAX_NAME = 48;

/** One line for people: time, reason, kind, name, CPU, memory, network, containers, problems. No line end. */
export function frameLine(envelope: Envelope, colours: boolean): string {
  const frame = decode(envelope);
  if (frame === null) return `${printable(envelope.name)} ${envelope.bytes.length} bytes that are no frame`;
  const paint = (code: string, text: string): string => (colours ? `${ESC}${code}m${text}${ESC}0m` : text);
  const problems = frame.problems.length + frame.containers.reduce((sum, { problems: own }) => sum + own.length, 0);
  const received = total(frame, "network", "network.io.receive");
  const transmitted = total(frame, "network", "network.io.transmit");
  return [
    printable(frame.time).slice(11, 19),
    paint(COLOURS[frame.reason] ?? COLOURS.interval, printable(frame.reason).padEnd(8)),
    printable(frame.kind).padEnd(9),
    printable(envelope.name).padEnd(32),
    `cpu ${(total(frame, "cpu", "cpu.usage")?.toFixed(3) ?? "-").padStart(7)}`,
    `mem ${size(total(frame, "memory", "memory.working_set")).padStart(9)}`,
    `net ${size(received).padStart(9)} in ${size(transmitted).padStart(9)} out`,
    frame.kind === "host" ? "" : counted(frame.containers.length, "container").padStart(13),
    problems === 0 ? "" : paint(COLOURS.problem, counted(problems, "problem")),
  ]
    .join("  ")
    .trimEnd();
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

function decode(envelope: Envelope): Frame | null {
  try {
    return JSON.parse(new TextDecoder().decode(envelope.bytes));
  } catch {
    return null;
  }
}

/** The subject's own figure, summed over instances; where it has none, the sum of its containers'. */
function total(frame: Frame, type: string, name: string): number | null {
  return (
    sum(frame.features, type, name) ??
    sum(
      frame.containers.flatMap(({ features }) => features),
      type,
      name,
    )
  );
}

function sum(features: readonly Feature[], type: string, name: string): number | null {
  let result: number | null = null;
  for (const feature of features) {
    if (feature.type !== type) continue;
    const { value } = feature;
    const figure = typeof value === "object" && value !== null ? Reflect.get(value, name) : null;
    if (typeof figure === "number") result = (result ?? 0) + figure;
  }
  return result;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

function size(bytes: number | null): string {
  if (bytes === null) return "-";
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

function printable(text: string): string {
  const safe = text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return safe.length <= MAX_NAME ? safe : `${safe.slice(0, MAX_NAME - 1)}…`;
}
