import { main } from "../src/main.ts";
import type { World } from "../src/world.ts";
import type { Ended } from "./spawn.ts";

/** Runs a command line without a process of its own: for commands that end by themselves and start no pipeline. */
export async function runMain(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended & { readonly end: string }> {
  const text = { stdout: "", stderr: "", end: "" };
  const output = (name: "stdout" | "stderr"): World["stdout"] => ({
    terminal: false,
    colours: false,
    columns: 120,
    write: async (part) => {
      text[name] += part;
    },
  });
  const world: World = {
    env,
    userId: 1000,
    clock: { now: () => Date.now(), monotonic: () => performance.now() / 1000 },
    stdout: output("stdout"),
    stderr: output("stderr"),
    tellEnd: (message) => {
      text.end += message;
    },
  };
  return { code: await main(args, world), ...text };
}
