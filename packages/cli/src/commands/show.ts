import { createReadStream } from "node:fs";
import type { PluginCatalogue } from "../catalogue.ts";
import { readFrames } from "../frame-file.ts";
import { fieldsOf } from "../page/fields.ts";
import { framePage } from "../page/frame.ts";
import type { PageOptions } from "../page/options.ts";
import { COLOURS, PLAIN } from "../plan.ts";
import type { World } from "../world.ts";
import { type CommonOptions, load } from "./common.ts";
import { everyPlugin } from "./schema.ts";

export interface PageChoices {
  /** Rows of one table. */
  readonly rows: number;
  readonly meanings?: boolean;
}

export interface ShowOptions extends CommonOptions, PageChoices {}

/** `trawl show`: frames of a file, or of standard input, as pages; 1 where there was none. */
export async function show(file: string, options: ShowOptions, world: World): Promise<number> {
  const { catalogue } = await load(options, world);
  const page = await pageOptions(options, catalogue, world);
  let frames = 0;
  for await (const frame of readFrames(file === "-" ? process.stdin : createReadStream(file), file)) {
    await world.stdout.write(`${framePage(frame, page)}\n`);
    frames += 1;
  }
  if (frames > 0) return 0;
  await world.stderr.write(`trawl: ${file === "-" ? "standard input" : file} holds no frame\n`);
  return 1;
}

/** How this terminal shows pages, with what the schemas of all known crawlers say of fields. */
export async function pageOptions(
  { rows, meanings = false }: PageChoices,
  catalogue: PluginCatalogue,
  { stdout }: World,
): Promise<PageOptions> {
  const plugins = await everyPlugin(catalogue);
  return {
    fields: fieldsOf(plugins.filter((plugin) => plugin.kind === "crawler")),
    paint: stdout.colours ? COLOURS : PLAIN,
    width: stdout.columns,
    rows,
    meanings,
  };
}
