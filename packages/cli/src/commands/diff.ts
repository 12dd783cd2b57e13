import { createReadStream } from "node:fs";
import { type Frame, TrawlerError } from "@trawler/plugin-api";
import { type Difference, diffFrames } from "../frame-diff.ts";
import { readFrames } from "../frame-file.ts";
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
  const [first, second] = await Promise.all([lastFrames(before), lastFrames(after)]);
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
async function lastFrames(path: string): Promise<readonly Frame[]> {
  const frames = new Map<string, Frame>();
  for await (const frame of readFrames(createReadStream(path), path)) {
    frames.set(JSON.stringify([frame.resource["k8s.pod.uid"], frame.resource["container.id"]]), frame);
    if (frames.size > MAX_SUBJECTS)
      throw new TrawlerError("TRAWLER_CONFIG_INVALID", `${path}: more than ${MAX_SUBJECTS} subjects`);
  }
  return [...frames.values()];
}
