import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { errorMessage, FRAME_SCHEMA, type Frame, TrawlerError } from "@trawler/plugin-api";
import { type Difference, diffFrames } from "../frame-diff.ts";
import { COLOURS, PLAIN } from "../plan.ts";
import type { World } from "../world.ts";

export interface DiffOptions {
  readonly figures?: boolean;
  readonly json?: boolean;
  readonly exitCode?: boolean;
}

/** The last frame of each of so many subjects is kept. */
const MAX_SUBJECTS = 100_000;

/** `trawl diff`: what changed between two files of frames; exit 1 where something did, if it was asked for. */
export async function diff(before: string, after: string, options: DiffOptions, world: World): Promise<number> {
  const [first, second] = await Promise.all([readFrames(before), readFrames(after)]);
  const found = diffFrames(first, second, options.figures === true);
  const { strong, faint } = world.stdout.colours ? COLOURS : PLAIN;
  for (const one of found) {
    const text = options.json === true ? JSON.stringify(one) : lineOf(one, strong, faint);
    await world.stdout.write(`${text}\n`);
  }
  if (found.length === 0 && options.json !== true) await world.stderr.write("no difference\n");
  return options.exitCode === true && found.length > 0 ? 1 : 0;
}

const SIGNS = { added: "+", removed: "-", changed: "~" } as const;

function lineOf(
  { kind, subject, what, before, after }: Difference,
  strong: (text: string) => string,
  faint: (text: string) => string,
): string {
  const values = kind === "changed" ? `${before} → ${after}` : (after ?? before ?? "");
  return `${SIGNS[kind]} ${strong(subject)}${what === null ? "" : `  ${what}`}${values === "" ? "" : `  ${faint(values)}`}`;
}

/** The last frame of each subject. Throws TRAWLER_CONFIG_INVALID with the line that is none. */
async function readFrames(path: string): Promise<readonly Frame[]> {
  const frames = new Map<string, Frame>();
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() === "") continue;
      const frame: unknown = JSON.parse(line);
      if (!isFrame(frame)) throw new Error(`no frame of ${FRAME_SCHEMA}: files of \`trawl once\` hold one a line`);
      frames.set(JSON.stringify([frame.resource["k8s.pod.uid"], frame.resource["container.id"]]), frame);
      if (frames.size > MAX_SUBJECTS) throw new Error(`more than ${MAX_SUBJECTS} subjects`);
    }
  } catch (cause) {
    const where = number === 0 ? path : `${path}:${number}`;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `${where}: ${errorMessage(cause)}`, { cause });
  }
  return [...frames.values()];
}

function isFrame(value: unknown): value is Frame {
  return typeof value === "object" && value !== null && "schema" in value && value.schema === FRAME_SCHEMA;
}
