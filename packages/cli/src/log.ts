import type { LogLevel } from "@trawler/config";
import type { Logger } from "@trawler/plugin-api";
import { destination, pino } from "pino";

/** A log that can be handed down with fields of its own. */
export interface Log extends Logger {
  child(fields: Readonly<Record<string, string>>): Log;
}

const STDERR = 2;

/**
 * The agent's log on standard error: JSON lines, readable on a terminal. It is written at once, so that the last words
 * before an end are not lost.
 */
export async function createLog(level: LogLevel, terminal: boolean, colours: boolean): Promise<Log> {
  const options = { level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"`, nestedKey: undefined };
  const { nestedKey: _, ...common } = options;
  if (!terminal)
    return adapt(
      pino(
        { ...common, formatters: { level: (label) => ({ level: label }) } },
        destination({ dest: STDERR, sync: true }),
      ),
    );
  const { PinoPretty } = await import("pino-pretty");
  const stream = PinoPretty({
    destination: STDERR,
    sync: true,
    colorize: colours,
    ignore: "pid,hostname",
    translateTime: "SYS:HH:MM:ss",
    singleLine: true,
  });
  return adapt(pino(common, stream));
}

function adapt(log: pino.Logger): Log {
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    child: (fields) => adapt(log.child(fields)),
  };
}
