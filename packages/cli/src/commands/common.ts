import { type Configuration, type LogLevel, readConfiguration } from "@trawler/config";
import { PluginCatalogue } from "../catalogue.ts";
import { createLog, type Log } from "../log.ts";
import type { World } from "../world.ts";

/** Options that all commands with a configuration share. */
export interface CommonOptions {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly logLevel?: LogLevel;
}

export interface Loaded {
  readonly configuration: Configuration;
  readonly catalogue: PluginCatalogue;
  readonly log: Log;
}

/** Reads the configuration that the command line or TRAWLER_CONFIG names, or the defaults. */
export async function load({ config, set, logLevel }: CommonOptions, world: World): Promise<Loaded> {
  const catalogue = new PluginCatalogue();
  const read = await readConfiguration({
    file: config ?? world.env["TRAWLER_CONFIG"] ?? null,
    overrides: set ?? [],
    catalogue,
    env: world.env,
  });
  // In a pod the host's name is the pod's: NODE_NAME is what a pod's fieldRef to spec.nodeName is called by custom.
  const configuration = { ...read, node: { ...read.node, name: read.node.name || world.env["NODE_NAME"] } };
  const log = await createLog(logLevel ?? configuration.log.level, world.stderr.terminal, world.stderr.colours);
  return { configuration, catalogue, log };
}
