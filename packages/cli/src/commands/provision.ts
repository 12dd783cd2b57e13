import { type Command, Option } from "commander";
import type { World } from "../world.ts";
import type { CommandHelp } from "./inventory.ts";
import type { CatalogOptions, DialogOptions, PlanOptions } from "./provision-template.ts";

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
    .helpCommand(false);
  const load = () => import("./provision-template.ts");

  templateOptions(provision.command("plan").description("Show what a template would create. Touches nothing."))
    .option("--explain", "list what strict and compat mode make of it differently")
    .addOption(new Option("-o, --output <form>", "how").choices(["table", "json", "yaml"]).default("table"))
    .addHelpText(
      "after",
      examples(
        ["trawl provision plan -f shop.yaml -p NAME=shop", "objects, parameters and message, secrets masked"],
        ["trawl provision plan -f shop.yaml --param-file shop.env -o yaml", "with values of a file"],
        ["trawl provision plan -f shop.yaml --mode compat --explain", "what the modes make of it differently"],
      ),
    )
    .action(async (options: PlanOptions) => done(await (await load()).plan(options, world)));

  provision
    .command("dialog")
    .description("Print the form of a template: JSON Schema and hints, or how it looks.")
    .requiredOption("-f, --file <path>", "the template: a file, or - for stdin")
    .addOption(mode())
    .option("--preview", "as a form for the terminal")
    .addHelpText(
      "after",
      examples(
        ["trawl provision dialog -f shop.yaml --preview", "how it looks"],
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

/** The options of every command that takes a template and values. */
export function templateOptions(command: Command): Command {
  return command
    .requiredOption("-f, --file <path>", "a template: a file, a folder, or - for stdin; may be repeated", collect)
    .option("-p, --param <name=value>", "a parameter's value; may be repeated", collect)
    .option("--param-file <file>", "values as NAME=VALUE lines; -p wins over them", collect)
    .option("-n, --namespace <name>", "where objects go that the template gives no namespace")
    .option("--ignore-unknown-parameters", "drop values of names that the template does not have")
    .option("--show-secrets", "print secret values")
    .addOption(mode());
}

function mode(): Option {
  return new Option("--mode <mode>", "strict, or compat: as OpenShift processes it")
    .choices(["strict", "compat"])
    .default("strict");
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
