import { TrawlerError } from "@trawler/plugin-api";
import { type Path, type Place, pathText } from "./path.ts";

/** One thing that is wrong in a configuration. Every text is one line and holds no secret. */
export interface Fault {
  readonly place: Place;
  readonly path: Path;
  /** What was found, such as `found 10 (a number)`. */
  readonly found: string;
  /** What belongs there, such as `a duration such as 10s`; empty where `found` says it all. */
  readonly expected: string;
  /** How to mend it. */
  readonly mend: string;
}

/** More faults than this are counted, not listed. */
const MOST = 50;

/** `FILE:LINE:COLUMN: KEY: found …, expected …; how to mend it`. */
function formatFault({ place, path, found, expected, mend }: Fault): string {
  const position = place.line > 0 ? `${place.file}:${place.line}:${place.column}` : place.file;
  const text = pathText(path);
  // `--set PATH` says it already.
  const key = path.length === 0 || position.endsWith(` ${text}`) ? "" : `${text}: `;
  const wish = expected === "" ? "" : `, expected ${expected}`;
  return oneLine(`${position}: ${key}${found}${wish}${mend === "" ? "" : `; ${mend}`}`);
}

/** The error that carries all faults of one configuration, one a line, in the order of the file. */
export function faultsError(faults: readonly Fault[]): TrawlerError {
  const sorted = faults.toSorted(
    (a, b) =>
      a.place.file.localeCompare(b.place.file) || a.place.line - b.place.line || a.place.column - b.place.column,
  );
  const lines = [...new Set(sorted.map(formatFault))];
  const rest = lines.length > MOST ? [`… and ${lines.length - MOST} more`] : [];
  return new TrawlerError("TRAWLER_CONFIG_INVALID", [...lines.slice(0, MOST), ...rest].join("\n"));
}

/** Keeps a message on its line and a terminal unharmed, whatever stood in the file. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
  return line.length > 1000 ? `${line.slice(0, 1000)}…` : line;
}
