import { type Command, Option } from "commander";
import type { World } from "../../world.ts";
import type { CommandHelp } from "../inventory/command.ts";
import { accessOptions, mode, placeOptions, templateOptions } from "./options.ts";
import type { PlanOptions } from "./plan.ts";
import type { CatalogOptions, DialogOptions } from "./template.ts";

/** Adds `trawl provision …` and returns it. What a command needs is loaded when it runs. */
export function addProvision(
  program: Command,
  { examples }: Pick<CommandHelp, "examples">,
  world: World,
  done: (code: number) => void,
): Command {
  const provision = program
    .command("provision")
    .description("Create what a template describes, see exactly what was made, and undo exactly that.")
    .helpCommand(false)
    .addHelpText(
      "after",
      examples(
        [
          "trawl provision plan -f shop.yaml -n shop --server",
          "what would be created, and what the cluster says of it",
        ],
        ["trawl provision apply -f shop.yaml -n shop --until ready", "create it, wait until it works"],
        ["trawl provision list", "the runs of this machine"],
        ["trawl provision retire 01kd", "remove all that a run made"],
      ),
    );
  const load = () => import("./template.ts");

  accessOptions(
    placeOptions(
      templateOptions(provision.command("plan").description("Show what a template would create. Creates nothing.")),
    ),
  )
    .option("--server", "ask the cluster too: kinds, namespaces, rights, quotas, a dry run of each object")
    .option("--explain", "list what strict and compat mode make of it differently")
    .addOption(new Option("-o, --output <form>", "how").choices(["table", "json", "yaml"]).default("table"))
    .addHelpText(
      "after",
      `${examples(
        ["trawl provision plan -f shop.yaml -p NAME=shop", "objects, parameters and message, secrets masked"],
        ["trawl provision plan -f shop.yaml -n shop --server", "and whether the cluster would take them"],
        ["trawl provision plan -f shop.yaml --param-file shop.env -o yaml", "with values of a file"],
        ["trawl provision plan -f shop.yaml --mode compat --explain", "what the modes make of it differently"],
      )}\nExit codes: 0 it could be created, as far as was asked; 2 usage; 3 it could not.\n`,
    )
    .action(async (options: PlanOptions) => done(await (await import("./plan.ts")).plan(options, world)));

  accessOptions(
    provision
      .command("dialog")
      .description("Print the form of a template: JSON Schema and hints, or how it looks.")
      .requiredOption("-f, --file <path>", "the template: a file, or - for stdin")
      .addOption(mode())
      .option("--preview", "as a form for the terminal")
      .option("--server", "mark what you may not create there")
      .option("-n, --namespace <name>", "where the objects would go; for --server"),
  )
    .addHelpText(
      "after",
      examples(
        ["trawl provision dialog -f shop.yaml --preview", "how it looks"],
        ["trawl provision dialog -f shop.yaml --preview --server -n shop", "and what of it you may not create"],
        ["trawl provision dialog -f shop.yaml | jq .schema", "the JSON Schema of its answers"],
      ),
    )
    .action(async (options: DialogOptions) => done(await (await load()).dialog(options, world)));

  provision
    .command("catalog")
    .description("List the templates of a folder.")
    .argument("<folder>", "where they are")
    .addOption(mode())
    .addOption(new Option("-o, --output <form>", "how").choices(["table", "json"]).default("table"))
    .addHelpText("after", examples(["trawl provision catalog examples/templates", "names, descriptions, faults"]))
    .action(async (folder: string, options: CatalogOptions) =>
      done(await (await load()).catalog(folder, options, world)),
    );

  return provision;
}
