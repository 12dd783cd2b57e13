import { defaultSettings, type PluginSettings } from "@trawler/config";
import { defineEmitter, type EmitterPlugin, type Frame } from "@trawler/plugin-api";
import * as z from "zod";
import type { World } from "../world.ts";
import { framePage } from "./frame.ts";
import type { PageOptions } from "./options.ts";

/** An emitter that prints each frame as a page, for the command that asks for one. */
export async function pageEmitter(
  output: World["stdout"],
  options: PageOptions,
): Promise<PluginSettings<EmitterPlugin>> {
  const plugin = defineEmitter({
    name: "page",
    description: "Prints frames as pages for people.",
    config: z.strictObject({}),
    create: () => ({
      async write(envelopes) {
        for (const { bytes } of envelopes) {
          const frame: Frame = JSON.parse(new TextDecoder().decode(bytes));
          await output.write(`${framePage(frame, options)}\n`);
        }
        return undefined;
      },
    }),
  });
  return { ...(await defaultSettings(plugin)), plugin };
}
