import { TrawlerError } from "@trawler/plugin-api";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { World } from "../world.ts";
import type { CommandHelp } from "./inventory.ts";
import { templateOptions } from "./provision.ts";
import type { ApplyOptions } from "./provision-apply.ts";
import { namesService, type ServiceOptions } from "./provision-client.ts";
import type { ClusterOptions } from "./provision-cluster.ts";
import type { OutputOptions } from "./provision-run.ts";

type InstanceOptions = ClusterOptions & OutputOptions & ServiceOptions;

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
      templateOptions(group.command("apply").description("Create the objects of a template, and report each of them.")),
    ),
  )
    .option("--detach", "hand it to a service (trawl provision serve), print the instance's id, and end")
    .option("--create-namespace", "make that namespace too")
    .addOption(choice("--until <goal>", "what to wait for", ["created", "inventory", "ready"], "created"))
    .addOption(
      new Option("--rollback <policy>", "remove what was created, after a failure").choices(["auto", "never", "ask"]),
    )
    .option("--parallel <count>", "requests at a time, 1 to 64", parallel, 8)
    .addOption(choice("--existing <policy>", "where an object exists already", ["fail", "skip"], "fail"))
    .addOption(choice("--order <order>", "order of creation", ["kind", "template"], "kind"))
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
        ["trawl provision apply -f shop.yaml -n shop --detach --server https://provision:9469", "by a service"],
      )}\nWithout --rollback: auto where a creation fails, never where all is created and not ready.\nExit codes: 0 SUCCEEDED, 1 FAILED (nothing is left), 2 usage, 3 refused before anything was created, 4 PARTIAL.\n`,
    )
    .action(async (options: ApplyOptions & ServiceOptions & { readonly detach?: boolean }) => {
      if (options.detach === true) return done(await (await import("./provision-detach.ts")).detach(options, world));
      if (options.server !== undefined)
        throw new TrawlerError("TRAWLER_CONFIG_INVALID", "apply --server needs --detach: the service does it then");
      const { apply } = await import("./provision-apply.ts");
      done(await apply(options, world));
    });

  const instances = (options: InstanceOptions) =>
    namesService(options, world) ? import("./provision-remote.ts") : import("./provision-instances.ts");
  service(cluster(group.command("list").description("The runs that this machine, or a service, knows."))).action(
    async (options: InstanceOptions) => done(await (await instances(options)).list(options, world)),
  );
  const named = (name: string, description: string): Command =>
    service(cluster(group.command(name).description(description))).argument(
      "<instance>",
      "its id, or the beginning of it",
    );
  type Run = (name: string, options: InstanceOptions, world: World) => Promise<number>;
  type Module = Pick<Awaited<ReturnType<typeof instances>>, Action>;
  const on = (command: Command, find: (module: Module) => Run): void =>
    void command.action(async (name: string, options: InstanceOptions) =>
      done(await find(await instances(options))(name, options, world)),
    );
  on(named("status", "The report of a run: type, id and state of every object."), (module) => module.status);
  const logs = named("logs", "What a run did, line by line.").option("--follow", "until it is over");
  on(logs, (module) => module.logs);
  on(named("resume", "Go on with a run that was cut off, or that left objects out."), (module) => module.resume);
  on(named("cancel", "Stop a run as a failure would; one that was cut off is rolled back."), (module) => module.cancel);
  on(named("rollback", "Remove what a run that did not succeed has left."), (module) => module.rollback);
  on(named("retire", "Remove all that a run made."), (module) => module.retireRun);
}

function cluster(command: Command): Command {
  return command
    .option("--kubeconfig <file>", "the cluster (default: $KUBECONFIG, the pod's account, ~/.kube/config)")
    .option("--context <name>", "a context of that file")
    .option("--state <folder>", "where runs are kept")
    .option("--request-timeout <duration>", "for one request; default 30s", duration)
    .addOption(choice("-o, --output <format>", "how the result is printed", ["table", "json"], "table"));
}

/** The options of commands that a service may carry out. */
export function service(command: Command): Command {
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

function choice(flags: string, description: string, choices: readonly string[], value: string): Option {
  return new Option(flags, description).choices([...choices]).default(value);
}

function parallel(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 64)
    throw new InvalidArgumentError("It is a number from 1 to 64.");
  return count;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds. */
function duration(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,6})(ms|s|m|h)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined) throw new InvalidArgumentError("It is a duration such as 30s or 5m.");
  return Number(digits) * factor;
}
