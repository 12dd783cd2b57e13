import { errorCode } from "@trawler/plugin-api";
import { describeFailure, main } from "./main.ts";
import { processWorld } from "./world.ts";

const world = processWorld();

/** A defect: nothing can be relied on any more, so it is told and the process ends. */
const fatal = (what: string) => (error: unknown) => {
  const record = {
    level: "fatal",
    time: new Date().toISOString(),
    code: errorCode(error) ?? "UNKNOWN",
    msg: `${what}: ${describeFailure(error)}`,
  };
  if (process.argv.includes("run")) world.tellEnd?.(record.msg);
  process.stderr.write(world.stderr.terminal ? `${record.msg}\n` : `${JSON.stringify(record)}\n`, () =>
    process.exit(1),
  );
  setTimeout(() => process.exit(1), 1_000).unref();
};
process.on("uncaughtException", fatal("uncaught exception"));
process.on("unhandledRejection", fatal("unhandled rejection"));
// A reader such as `head` may go early; what is left has no reader and is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error) => process.exit(errorCode(error) === "EPIPE" ? 0 : 1));
}

process.exit(await main(process.argv.slice(2), world));
