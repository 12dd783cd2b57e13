import { parseDuration } from "@trawler/plugin-api";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { World } from "../../world.ts";
import type { CommandHelp } from "../inventory/command.ts";
import type { LogsLinkOptions } from "./link.ts";
import type { LogsListOptions } from "./list.ts";

const FOLDER = "/var/log/trawler/containers";

/** Adds `trawl logs …`. What a command needs is loaded when it runs. */
export function addLogs(
  program: Command,
  { common, examples }: CommandHelp,
  world: World,
  done: (code: number) => void,
): void {
  const logs = program
    .command("logs")
    .description("Offer the log files of containers to a log shipper.")
    .helpCommand(false)
    .addHelpText(
      "after",
      examples(
        ["trawl logs link", "keep a folder of links in step with what runs"],
        ["trawl logs list", "what that folder offers, and what it does not"],
      ),
    );

  common(logs.command("link").description("Keep a folder of links to log files, until a signal."))
    .option("-e, --environment <name>", "where containers are found: kubernetes or docker")
    .option("-f, --folder <path>", "where the links are made", FOLDER)
    .option("--once", "link the runtime's own logs of what runs now, and end; the links stay")
    .addOption(
      new Option("--every <duration>", "how often files are looked at anew, such as after a rotation")
        .default(1_000, "1s")
        .argParser(interval),
    )
    .option("--name <template>", "a container's folder, such as {namespace}/{pod}/{container}")
    .option(
      "--path <path>",
      "a file to look for in every container; globs; may be repeated; replaces the usual",
      collect,
    )
    .option("--no-inside", "the runtime's own logs only, nothing from inside of containers")
    .option("--per-container <count>", "most links of one container", count, 32)
    .option("--in-all <count>", "most files of containers that are held open", count, 2_000)
    .option("--shipper-proc <path>", "where the shipper sees the node's /proc", "/proc")
    .option("--http-port <port>", "serve /healthz, /readyz and /metrics there", port)
    .addHelpText(
      "after",
      `${examples(
        ["trawl logs link --environment docker", "of the containers of a Docker engine"],
        ["trawl logs link --config trawl.yaml --name '{namespace}/{pod}/{container}'", "as the file says"],
        ["trawl logs link --path '/var/log/*.log' --path '/data/*.log'", "from inside of every container"],
        ["trawl logs link --once --folder /run/logs", "links that need no process"],
      )}
A container names more files by LOG_LOCATIONS in its environment, a pod by the annotation trawler.dev/logs, or
trawler.dev/logs.CONTAINER: absolute paths with commas between. Links to files in containers show this process's
descriptors: the shipper runs on the node as the same user, and reads exactly the file that was checked.\n`,
    )
    .action(async (options: LogsLinkOptions) => done(await (await import("./link.ts")).logsLink(options, world)));

  logs
    .command("list")
    .description("List what a folder of links offers, and what it does not, with the reason.")
    .option("-f, --folder <path>", "the folder of links", FOLDER)
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      examples(["trawl logs list", "a line a file"], ["trawl logs list --json | jq -r .[].link", "for programs"]),
    )
    .action(async (options: LogsListOptions) => done(await (await import("./list.ts")).logsList(options, world)));
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

function count(value: string): number {
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It is a whole number from 1 to 999999.");
}

function port(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) < 65_536) return Number(value);
  throw new InvalidArgumentError("It is a port; 0 takes a free one.");
}

function interval(value: string): number {
  const milliseconds = parseDuration(value);
  if (milliseconds !== null && milliseconds >= 200 && milliseconds <= 3_600_000) return milliseconds;
  throw new InvalidArgumentError("It is a duration from 200ms to 1h, such as 1s.");
}
