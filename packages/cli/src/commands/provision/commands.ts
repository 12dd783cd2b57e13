import { TrawlerError } from "@trawler/plugin-api";
import { type Command, Option } from "commander";
import type { World } from "../../world.ts";
import type { CommandHelp } from "../inventory/command.ts";
import type { ApplyOptions } from "./apply.ts";
import type { ClusterOptions } from "./cluster.ts";
import { accessOptions, age, choice, duration, parallel, placeOptions, templateOptions } from "./options.ts";
import type { PurgeOptions } from "./purge.ts";
import type { OutputOptions } from "./run.ts";
import { namesService, type ServiceOptions } from "./service.ts";

type InstanceOptions = ClusterOptions & OutputOptions & ServiceOptions;

const INVENTORY = "folder of the running inventory that is told; default: the one of this host, if any";

/** Milliseconds. */
const KEEP = 30 * 86_400_000;

type Action = "status" | "logs" | "resume" | "cancel" | "rollback" | "retireRun";

/** The commands that change a cluster, and those that look at their runs. What they need is loaded when they run. */
export function addProvisionRuns(
  group: Command,
  { examples }: Pick<CommandHelp, "examples">,
  world: World,
  done: (code: number) => void,
): void {
  service(
    cluster(
      placeOptions(
        templateOptions(
          group.command("apply").description("Create the objects of a template, and report each of them."),
        ),
      ),
    ),
  )
    .option("--detach", "with a service: print the instance's id and end, while it goes on")
    .addOption(choice("--until <goal>", "what to wait for", ["created", "inventory", "ready"], "created"))
    .option("--inventory <folder>", INVENTORY)
    .addOption(
      new Option(
        "--rollback <policy>",
        "remove what was created, after a failure; deep: and what controllers made of it",
      ).choices(["auto", "deep", "never", "ask"]),
    )
    .option("--parallel <count>", "requests at a time, 1 to 64", parallel, 8)
    .option("--no-dry-run", "do not have the server judge the objects first")
    .option("--keep-going", "go on with other objects after one failed")
    .option("--no-keep-data", "let a rollback remove volume claims that were bound")
    .option("--create-timeout <duration>", "for all creations; default 5m", duration)
    .option("--ready-timeout <duration>", "for waiting; default 10m", duration)
    .option("--rollback-timeout <duration>", "for the removal of one object; default 2m", duration)
    .addHelpText(
      "after",
      `${examples(
        ["trawl provision apply -f shop.yaml -n shop", "create, roll back where that fails"],
        ["trawl provision apply -f shop.yaml -n shop -p NAME=cart --until ready", "and wait until it works"],
        ["trawl provision apply -f shop.yaml -n shop --rollback never", "leave what was created"],
        ["trawl provision apply -f shop.yaml -n shop --server https://provision:9469", "by a service, and follow it"],
        ["trawl provision apply -f shop.yaml -n shop --detach --server https://provision:9469", "without following"],
      )}\nWithout --rollback: auto where a creation fails, never where all is created and not ready.\nExit codes: 0 SUCCEEDED, 1 FAILED (nothing is left), 2 usage, 3 refused before anything was created, 4 PARTIAL.\n`,
    )
    .action(async (options: ApplyOptions & ServiceOptions & { readonly detach?: boolean }) => {
      if (options.detach === true || namesService(options, world)) {
        const there = await import("./detach.ts");
        return done(await (options.detach === true ? there.detach : there.applyThere)(options, world));
      }
      const { apply } = await import("./apply.ts");
      done(await apply(options, world));
    });

  const instances = (options: InstanceOptions) => {
    if (!namesService(options, world)) return import("./instances.ts");
    if (options.deep !== true) return import("./remote.ts");
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", "--deep is for runs of this machine, and a service is named");
  };
  service(cluster(group.command("list").description("The runs that this machine, or a service, knows.")))
    .addHelpText(
      "after",
      examples(
        ["trawl provision list", "instance, state, template, objects"],
        ["trawl provision list -o json", "with settings, leftovers and warnings"],
      ),
    )
    .action(async (options: InstanceOptions) => done(await (await instances(options)).list(options, world)));
  group
    .command("purge")
    .description("Forget runs of this machine that are over and have nothing in the cluster.")
    .option("--state <folder>", "where runs are kept")
    .option("--older-than <duration>", "only those that ended so long ago", age, KEEP)
    .option("--dry-run", "say which, and forget none")
    .addOption(choice("-o, --output <format>", "how the result is printed", ["table", "json"], "table"))
    .addHelpText(
      "after",
      `${examples(
        ["trawl provision purge --dry-run", "which would be forgotten"],
        ["trawl provision purge --older-than 168h", "those that ended a week ago"],
      )}\nFAILED and RETIRED runs, and those that made nothing. Default: 30 days after their end. A service does it by itself: runs.keep.\n`,
    )
    .action(async (options: PurgeOptions) => done(await (await import("./purge.ts")).purgeRuns(options, world)));
  const named = (
    name: string,
    description: string,
    ...rows: readonly (readonly [command: string, meaning: string])[]
  ): Command =>
    service(cluster(group.command(name).description(description)))
      .argument("<instance>", "its id, or the beginning of it")
      .addHelpText("after", examples(...rows));
  type Run = (name: string, options: InstanceOptions, world: World) => Promise<number>;
  type Module = Pick<Awaited<ReturnType<typeof instances>>, Action>;
  const on = (command: Command, find: (module: Module) => Run): void =>
    void command.action(async (name: string, options: InstanceOptions) =>
      done(await find(await instances(options))(name, options, world)),
    );
  const status = named(
    "status",
    "The report of a run: type, id and state of every object.",
    ["trawl provision status 01kd", "the run that begins so"],
    ["trawl provision status 01kd -o json", "for a program"],
  );
  on(status, (module) => module.status);
  const logs = named(
    "logs",
    "What a run did, line by line.",
    ["trawl provision logs 01kd", "from its beginning"],
    ["trawl provision logs 01kd --follow", "until it is over"],
  ).option("--follow", "until it is over");
  on(logs, (module) => module.logs);
  const resume = named("resume", "Go on with a run that was cut off, or that left objects out.", [
    "trawl provision resume 01kd",
    "create what is missing; what is there stays as it is",
  ]).option("--inventory <folder>", INVENTORY);
  on(resume, (module) => module.resume);
  const cancel = named("cancel", "Stop a run as a failure would; one that was cut off is rolled back.", [
    "trawl provision cancel 01kd",
    "and wait for its end",
  ]);
  on(cancel, (module) => module.cancel);
  const rollback = named("rollback", "Remove what a run that did not succeed has left.", [
    "trawl provision rollback 01kd",
    "only what this run made, by its uid",
  ]).addOption(deep());
  on(rollback, (module) => module.rollback);
  const retire = named("retire", "Remove all that a run made.", [
    "trawl provision retire 01kd",
    "volume claims that were bound stay, and are named",
  ]).addOption(deep());
  on(retire, (module) => module.retireRun);
}

function cluster(command: Command): Command {
  return accessOptions(command)
    .option("--state <folder>", "where runs are kept")
    .addOption(choice("-o, --output <format>", "how the result is printed", ["table", "json"], "table"));
}

function deep(): Option {
  return new Option("--deep", "remove what controllers made of its objects too, where it outlives them").conflicts([
    "server",
    "config",
  ]);
}

/** The options of commands that a service may carry out. */
function service(command: Command): Command {
  return command
    .addOption(
      new Option("--server <url>", "a service that does it; default $TRAWLER_PROVISION_SERVER").conflicts([
        "state",
        "kubeconfig",
        "context",
      ]),
    )
    .option("--token-file <file>", "its token; default $TRAWLER_PROVISION_TOKEN_FILE, or $TRAWLER_PROVISION_TOKEN")
    .option("--ca <file>", "who may sign its certificate; default $TRAWLER_PROVISION_CA, or the system's")
    .option("-c, --config <file>", "the service's own configuration, on its host: address and token");
}
