import type { Path } from "./place.ts";
import type { FaultCode, TemplateFault } from "./types.ts";

/** More faults than this are not kept. */
const MOST = 1_000;

/** RFC 6901. */
export function pointer(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Collects faults; `raise` makes them, with their places. */
export class FaultList {
  readonly #raise: (severity: TemplateFault["severity"], code: FaultCode, path: Path, message: string) => TemplateFault;
  readonly #list: TemplateFault[] = [];

  constructor(
    raise: (severity: TemplateFault["severity"], code: FaultCode, path: Path, message: string) => TemplateFault,
  ) {
    this.#raise = raise;
  }

  error(code: FaultCode, path: Path, message: string): void {
    if (this.#list.length < MOST) this.#list.push(this.#raise("error", code, path, message));
  }

  warning(code: FaultCode, path: Path, message: string): void {
    if (this.#list.length < MOST) this.#list.push(this.#raise("warning", code, path, message));
  }

  get all(): readonly TemplateFault[] {
    return this.#list;
  }
}

/** In the order of the text: those without a place first. */
export function sortFaults(faults: readonly TemplateFault[]): readonly TemplateFault[] {
  return faults.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

export function isFatal(faults: readonly TemplateFault[]): boolean {
  return faults.some(({ severity }) => severity === "error");
}

/** `FILE:LINE:COLUMN: /path: message`, on one line, safe for a terminal. */
export function formatFault({ severity, file, line, column, path, message }: TemplateFault): string {
  const place = [file, line, column].filter((part) => part !== null).join(":");
  const text = [place, path, `${severity === "warning" ? "warning: " : ""}${message}`]
    .filter((part) => part !== "")
    .join(": ");
  return printable(text, 1_000);
}

/** One line without control characters, of bounded length. */
export function printable(text: string, longest: number): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
