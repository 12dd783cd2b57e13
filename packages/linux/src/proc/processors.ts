import type { ProcessorFigures } from "@trawler/plugin-api";
import { divided, parseCount, sum } from "./number.ts";
import { TICKS_PER_SECOND } from "./stat.ts";

const MAX_PROCESSORS = 8192;
const PROCESSOR = /^cpu(\d{1,6}) (.*)$/;

/** The lines `cpu0`, `cpu1`, … of a `/proc/stat` (proc(5)): a guest's time is part of its user time. */
export function parseProcessors(text: string): readonly ProcessorFigures[] {
  const processors: ProcessorFigures[] = [];
  for (const line of text.split("\n")) {
    const [, number, rest = ""] = PROCESSOR.exec(line) ?? [];
    if (number === undefined || processors.length >= MAX_PROCESSORS) continue;
    const ticks = rest.trim().split(/\s+/).map(parseCount);
    const seconds = (index: number): number | null => divided(ticks[index] ?? null, TICKS_PER_SECOND);
    processors.push({
      number: Number(number),
      user: seconds(0),
      nice: seconds(1),
      system: seconds(2),
      idle: seconds(3),
      ioWait: seconds(4),
      interrupt: sum(seconds(5), seconds(6)),
      steal: seconds(7),
    });
  }
  return processors;
}
