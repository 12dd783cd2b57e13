import { PluginCatalogue } from "../catalogue.ts";
import { COLOURS, PLAIN } from "../plan.ts";
import type { World } from "../world.ts";
import { type CommonOptions, load } from "./common.ts";

const KINDS = ["environment", "mode", "crawler", "emitter"] as const;

/** `trawl plugins`: what is known; third parties' too where a configuration names them. */
export async function plugins(options: CommonOptions & { readonly json?: boolean }, world: World): Promise<number> {
  const named = options.config !== undefined || world.env["TRAWLER_CONFIG"] !== undefined;
  const catalogue = named ? (await load(options, world)).catalogue : new PluginCatalogue();
  const known = catalogue.known();
  const { stdout } = world;
  if (options.json === true) {
    await stdout.write(`${JSON.stringify(known, null, 2)}\n`);
    return 0;
  }
  const { strong, name, faint } = stdout.colours ? COLOURS : PLAIN;
  const width = Math.max(...known.map((plugin) => plugin.name.length)) + 2;
  const sections = KINDS.map((kind) =>
    [
      strong(`${kind}s`),
      ...known
        .filter((plugin) => plugin.kind === kind)
        .map(
          (plugin) =>
            `  ${name(plugin.name.padEnd(width))}${faint(plugin.stability.padEnd(8))}${plugin.description}${plugin.builtIn ? "" : faint(`  ${plugin.package}`)}`,
        ),
    ].join("\n"),
  );
  await stdout.write(`${sections.join("\n\n")}\n`);
  return 0;
}
