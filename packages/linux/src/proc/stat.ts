import { parseCount } from "./number.ts";

/** User-space clock ticks in a second: USER_HZ is 100 on every architecture that Node runs on. */
export const TICKS_PER_SECOND = 100;

/** `/proc/PID/stat`, the fields that this project reads. Times in clock ticks. */
export interface ProcessStat {
  readonly pid: number;
  readonly command: string;
  readonly state: string;
  readonly parentPid: number;
  readonly userTicks: number;
  readonly systemTicks: number;
  readonly threads: number;
  readonly startTicks: number;
  readonly virtualBytes: number;
  readonly residentPages: number;
}

/** Parses `/proc/PID/stat`; null for garbage. The name may hold blanks and brackets: it ends at the last `)`. */
export function parseProcessStat(text: string): ProcessStat | null {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return null;
  const fields = text
    .slice(close + 2)
    .trim()
    .split(" ");
  /** Field as proc(5) numbers it, from 3 on. */
  const field = (number: number): number | null => parseCount(fields[number - 3]);
  const pid = parseCount(text.slice(0, open).trim());
  const state = fields[0];
  const [parentPid, userTicks, systemTicks] = [field(4), field(14), field(15)];
  const [threads, startTicks, virtualBytes, residentPages] = [field(20), field(22), field(23), field(24)];
  if (pid === null || state === undefined || parentPid === null || userTicks === null || systemTicks === null)
    return null;
  if (threads === null || startTicks === null || virtualBytes === null || residentPages === null) return null;
  const command = text.slice(open + 1, close);
  return { pid, command, state, parentPid, userTicks, systemTicks, threads, startTicks, virtualBytes, residentPages };
}
