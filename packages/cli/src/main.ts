import { errorCode, errorMessage } from "@trawler/plugin-api";
import type { CommanderError } from "commander";
import { createProgram } from "./program.ts";
import type { World } from "./world.ts";

/** Runs one command line and returns its exit code: 0 done, 1 failed, 2 configuration or usage. Never throws. */
export async function main(args: readonly string[], world: World): Promise<number> {
  let code = 0;
  const program = createProgram(world, (result) => {
    code = result;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    // Commander has printed its message, and help is no failure.
    if (isCommander(error)) return error.exitCode === 0 ? 0 : 2;
    const text = describeFailure(error);
    await world.stderr.write(`${text}\n`);
    // Other commands are called in a running agent's container, whose end this is not.
    if (args.includes("run")) world.tellEnd?.(text);
    return errorCode(error) === "TRAWLER_CONFIG_INVALID" ? 2 : 1;
  }
}

function isCommander(error: unknown): error is CommanderError {
  return errorCode(error)?.startsWith("commander.") === true;
}

/** What a person needs of an error: our own say it themselves, of others the code helps to search. */
export function describeFailure(error: unknown): string {
  const code = errorCode(error);
  const lines = errorMessage(error).split("\n");
  if (code === "TRAWLER_CONFIG_INVALID" && lines.length > 1)
    return `trawl: ${lines.length} faults in the configuration:\n${lines.map((line) => `  ${line}`).join("\n")}`;
  if (code?.startsWith("TRAWLER_")) return `trawl: ${lines.join("\n  ")}`;
  const stack = error instanceof Error && error.stack !== undefined ? error.stack : String(error);
  return `trawl: ${code === undefined ? "" : `${code}: `}${stack}`;
}
