import { isatty } from "node:tty";
import { FORMATS, NAME_DESCRIPTION, NAME_HINT, NAME_TEMPLATE, nameBy } from "@trawler/format";
import { defineEmitter } from "@trawler/plugin-api";
import * as z from "zod";
import { descriptorEmitter } from "./emitter.ts";

const STDOUT = 1;

export default defineEmitter({
  name: "stdout",
  description: "Prints frames on standard output: JSON lines, another format, or one readable line each on a terminal.",
  config: z.strictObject({
    format: z
      .enum(["auto", "text", ...FORMATS])
      .default("auto")
      .describe(
        "`json`: one frame a line; `text`: for people; `auto`: text on a terminal, else json; the others are projections of a frame.",
      ),
    name: z.string().regex(NAME_TEMPLATE, NAME_HINT).optional().describe(NAME_DESCRIPTION),
  }),
  create: ({ format, name }) => {
    const terminal = isatty(STDOUT);
    return descriptorEmitter({
      descriptor: STDOUT,
      format: format === "auto" ? (terminal ? "text" : "json") : format,
      nameOf: nameBy(name),
      // https://no-color.org: any non-empty value turns colours off.
      colours: terminal && !process.env["NO_COLOR"],
    });
  },
});
