import { parseDuration } from "@trawler/plugin-api";
import { Command, InvalidArgumentError, Option } from "commander";
import { check } from "./commands/check.ts";
import type { CommonOptions } from "./commands/common.ts";
import { type DiffOptions, diff } from "./commands/diff.ts";
import { explainKey, explainPod } from "./commands/explain.ts";
import { addInventory } from "./commands/inventory/command.ts";
import { addLogs } from "./commands/logs/command.ts";
import { type OnceOptions, once } from "./commands/once.ts";
import { plugins } from "./commands/plugins.ts";
import { addProvision } from "./commands/provision/command.ts";
import { addProvisionRuns } from "./commands/provision/commands.ts";
import { addProvisionServe } from "./commands/provision/serve/command.ts";
import { run } from "./commands/run.ts";
import { schema } from "./commands/schema.ts";
import { type ShowOptions, show } from "./commands/show.ts";
import { VERSION } from "./version.ts";
import type { World } from "./world.ts";

const HELP_WIDTH = 110;
const MEANINGS = "each field with the sentence that its schema has for it";

/** The command line. `done` is called with the exit code of the command that ran. */
export function createProgram(world: World, done: (code: number) => void): Command {
  const program = new Command("trawl")
    .description("Crawls pods, containers and hosts from outside, and writes one frame per pod.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void world.stdout.write(text),
      writeErr: (text) => void world.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, "trawl: ")),
      getOutHelpWidth: () => HELP_WIDTH,
      getErrHelpWidth: () => HELP_WIDTH,
    })
    .addHelpText(
      "after",
      `${examples(
        ["trawl run", "crawl what is here: pods, else containers, else the host"],
        ["trawl run --config trawl.yaml", "as the file says"],
        ["trawl once --pod shop/cart-0", "one frame of one pod"],
        ["trawl check --config trawl.yaml", "what it would do, and whether the file is right"],
      )}\nExit codes: 0 done, 1 failed or nothing could be crawled, 2 configuration or usage.\n`,
    );

  common(program.command("run").description("Run the agent until a signal: plan, crawl, emit."))
    .option("--once", "end after one crawl")
    .addHelpText(
      "after",
      examples(
        ["trawl run", "what is here, a line a frame (JSON lines where stdout is no terminal)"],
        ["trawl run --config trawl.yaml --set http.port=0", "a file with one setting changed"],
        ["trawl run --once --log-level error", "one crawl, then end"],
      ),
    )
    .action(async (options: CommonOptions & { once?: boolean }) => done(await run(options, world)));

  common(program.command("once").description("Crawl once: frames on stdout, logs on stderr."))
    .option("-e, --environment <name>", "where workloads are found: kubernetes, docker or host")
    .option("-m, --mode <name>", "what one frame is about: pod, container or host")
    .option("--crawlers <names>", "what is read, separated by commas", names)
    .option("--pod <namespace/name>", "this one only, by its name or id")
    .addOption(
      new Option("--over <duration>", "measure rates, such as CPU in use, over so long; 0s: no rates, one reading")
        .default(1, "1s")
        .argParser(seconds),
    )
    .addOption(
      new Option("-o, --output <format>", "JSON lines, or a page a frame; auto: pages on a terminal, else JSON")
        .choices(["auto", "json", "page"])
        .default("auto"),
    )
    .addOption(rowsOption())
    .option("--meanings", MEANINGS)
    .addHelpText(
      "after",
      examples(
        ["trawl once --environment host --mode host", "one frame of this host"],
        ["trawl once --pod shop/cart-0 --crawlers cpu,memory", "two kinds of features of one pod"],
        ["trawl once --pod shop/cart-0 -o page | less", "to read from top to bottom"],
        ["trawl once | jq .resource", "frames are JSON lines where stdout is no terminal"],
      ),
    )
    .action(async (options: OnceOptions) => done(await once(options, world)));

  common(program.command("check").description("Check a configuration and print the plan, without running it."))
    .addHelpText(
      "after",
      examples(
        ["trawl check --config trawl.yaml", "every fault with its line, or the plan"],
        ["trawl check --set pipelines.default.every=30s", "the defaults with one setting changed"],
      ),
    )
    .action(async (options: CommonOptions) => done(await check(options, world)));

  common(program.command("plugins").description("List the environments, modes, crawlers and emitters that are known."))
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      examples(
        ["trawl plugins", "the built-in ones"],
        ["trawl plugins --config trawl.yaml --json", "and those of the packages that a file names"],
      ),
    )
    .action(async (options: CommonOptions & { json?: boolean }) => done(await plugins(options, world)));

  common(
    program
      .command("schema")
      .description("Print a JSON Schema: of the configuration file, of a frame, or of each feature."),
  )
    .argument("[what]", "config, frame or features", what, "config")
    .addHelpText(
      "after",
      examples(
        ["trawl schema > trawl.schema.json", "for an editor"],
        ["trawl schema frame", "what a consumer validates against"],
      ),
    )
    .action(async (name: "config" | "frame" | "features", options: CommonOptions) =>
      done(await schema(name, options, world)),
    );

  common(program.command("show").description("Print frames as pages for people: of a file, or of stdin."))
    .argument("[file]", "frames, one a line; - is stdin", "-")
    .addOption(rowsOption())
    .option("--meanings", MEANINGS)
    .addHelpText(
      "after",
      examples(
        ["trawl once > now.jsonl && trawl show now.jsonl", "what was crawled"],
        ["kcat -b kafka:9092 -t trawler.frames -o -10 -e | trawl show", "the last ten of the topic"],
      ),
    )
    .action(async (file: string, options: ShowOptions) => done(await show(file, options, world)));

  program
    .command("diff")
    .description("Say what changed between two files of frames: packages, files, labels, images.")
    .argument("<before>", "file of frames, one a line")
    .argument("<after>", "another of the same subjects")
    .option("--figures", "compare figures too; they move all the time")
    .option("--json", "one JSON object a line")
    .option("--exit-code", "end with 1 where something changed")
    .addHelpText(
      "after",
      examples(
        ["trawl once --crawlers package > monday.jsonl", "what is installed now"],
        ["trawl diff monday.jsonl friday.jsonl", "what was installed, removed or updated between"],
      ),
    )
    .action(async (before: string, after: string, options: DiffOptions) =>
      done(await diff(before, after, options, world)),
    );

  const explain = program.command("explain").description("Explain a pod or a setting.").helpCommand(false);
  explain.addHelpText(
    "after",
    examples(
      ["trawl explain pod shop/cart-0", "why it is crawled or not"],
      ["trawl explain setting kafka.brokers", "what a setting means"],
    ),
  );
  common(
    explain
      .command("pod")
      .description("Ask the agent that runs here why a pod is crawled or not, and what came of it."),
  )
    .argument("<namespace/name>", "the pod, by its name or id")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      examples(["trawl explain pod shop/cart-0", "found by, metadata from, last frame, each crawler's status"]),
    )
    .action(async (name: string, options: CommonOptions & { json?: boolean }) =>
      done(await explainPod(name, options, world)),
    );
  common(explain.command("setting").description("What a setting means, what it takes and its default."))
    .argument("<key>", "its path, or the end of one")
    .addHelpText(
      "after",
      examples(
        ["trawl explain setting http.port", "by its path"],
        ["trawl explain setting kafka.brokers", "by its end"],
      ),
    )
    .action(async (key: string, options: CommonOptions) => done(await explainKey(key, options, world)));

  addLogs(program, { common, examples }, world, done);

  addInventory(program, { common, examples }, world, done);

  const provision = addProvision(program, { examples }, world, done);
  addProvisionRuns(provision, { examples }, world, done);
  addProvisionServe(provision, { common, examples }, world, done);

  return program;
}

function common(command: Command): Command {
  return command
    .option("-c, --config <file>", "the configuration file (default: $TRAWLER_CONFIG, else the built-in defaults)")
    .option("--set <path=value>", "override a setting; the value is YAML; may be repeated", collect)
    .addOption(
      new Option("--log-level <level>", "least severity that is logged").choices([
        "debug",
        "info",
        "warn",
        "error",
        "silent",
      ]),
    );
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

function names(value: string): readonly string[] {
  const list = value
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (list.length === 0) throw new InvalidArgumentError("Name at least one crawler, such as cpu,memory.");
  return list;
}

function rowsOption(): Option {
  return new Option("--rows <count>", "rows of one table, such as a container's packages").default(10).argParser(count);
}

/** A minute at most: it is for a look, and the agent is for watching. */
function seconds(value: string): number {
  const milliseconds = value === "0s" ? 0 : parseDuration(value);
  if (milliseconds !== null && milliseconds <= 60_000) return milliseconds / 1000;
  throw new InvalidArgumentError("It is a duration up to 1m, such as 500ms or 5s, or 0s.");
}

function count(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It is a whole number from 1 on.");
}

function what(value: string): string {
  if (["config", "frame", "features"].includes(value)) return value;
  throw new InvalidArgumentError("It is one of config, frame, features.");
}

function examples(...rows: readonly (readonly [command: string, meaning: string])[]): string {
  const width = Math.max(...rows.map(([command]) => command.length)) + 2;
  return `\nExamples:\n${rows.map(([command, meaning]) => `  ${command.padEnd(width)}${meaning}`).join("\n")}\n`;
}
