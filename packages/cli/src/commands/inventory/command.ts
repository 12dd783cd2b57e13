import { type Command, Option } from "commander";
import type { World } from "../../world.ts";
import type { CommonOptions } from "../common.ts";

/** What the program's commands share. */
export interface CommandHelp {
  common(command: Command): Command;
  examples(...rows: readonly (readonly [command: string, meaning: string])[]): string;
}

type Output<T extends string> = CommonOptions & { readonly output: T };

/** Adds `trawl inventory …`. What a command needs is loaded when it runs. */
export function addInventory(
  program: Command,
  { common, examples }: CommandHelp,
  world: World,
  done: (code: number) => void,
): void {
  const inventory = program
    .command("inventory")
    .description("Keep and ask the record of every pod that ever was.")
    .helpCommand(false)
    .addHelpText(
      "after",
      examples(
        ["trawl inventory run --config inventory.yaml", "follow a cluster"],
        ["trawl inventory query --deleted", "what is gone, with exit codes and owners"],
        ["trawl inventory query --at 10m --node node-a", "what ran there ten minutes ago"],
        ["trawl inventory gaps", "when something may have been missed"],
      ),
    );
  const query = () => import("./query.ts");

  common(inventory.command("run").description("Follow a cluster until a signal: watch, queue, store, topic."))
    .addHelpText(
      "after",
      examples(
        ["trawl inventory run --config inventory.yaml", "as the file says"],
        ["trawl inventory run --set api.kubeconfig=$HOME/.kube/config", "the defaults, outside of a cluster"],
      ),
    )
    .action(async (options: CommonOptions) => done(await (await import("./run.ts")).inventoryRun(options, world)));

  common(
    inventory.command("query").description("Find records: those that exist, that are gone, or that were at a time."),
  )
    .option("--at <time>", "what existed then: 2026-11-30T12:00:00Z, now, or 10m for ten minutes ago")
    .option("--between <time...>", "what existed at some time between two times")
    .option("--kind <kind>", "of this kind", "Pod")
    .option("--node <name>", "on this node")
    .option("-n, --namespace <name>", "in this namespace")
    .option("--name <name>", "of this name")
    .option("--deleted", "gone ones only")
    .option("--owner <kind/name>", "below this owner, however far")
    .option("--limit <count>", "at most so many; default 1000")
    .option("--after <id>", "go on where an answer ended")
    .addOption(output("table", "json", "csv"))
    .addHelpText(
      "after",
      examples(
        ["trawl inventory query -n shop", "the pods of a namespace"],
        ["trawl inventory query --deleted --owner Job/nightly", "the pods that a Job had"],
        ["trawl inventory query --between 2h 1h --node node-a -o csv", "for a spreadsheet"],
        ["trawl inventory query --kind Node", "another kind"],
      ),
    )
    .action(async (options) => done(await (await query()).inventoryQuery(options, world)));

  common(inventory.command("show").description("All that is kept of one object: states, runs, changes, last figures."))
    .argument("<uid>", "its UID")
    .addOption(output("text", "json"))
    .addHelpText("after", examples(["trawl inventory show 3c1f…", "a UID as query prints it"]))
    .action(async (uid: string, options: Output<"text" | "json">) =>
      done(await (await import("./show.ts")).inventoryShow(uid, options, world)),
    );

  common(inventory.command("gaps").description("When something may have been missed, and why."))
    .addOption(output("table", "json"))
    .addHelpText("after", examples(["trawl inventory gaps", "none: everything was received"]))
    .action(async (options: Output<"table" | "json">) => done(await (await query()).inventoryGaps(options, world)));

  common(inventory.command("changes").description("What changed after a cursor, one JSON line a record."))
    .option("--since <cursor>", "the cursor of the line that was taken last; absent: from the beginning")
    .option("--limit <count>", "at most so many; default 1000")
    .addHelpText(
      "after",
      examples(
        ["trawl inventory changes", "every record, in the order of the last changes"],
        ["trawl inventory changes --since 5f0c21aa-1042", "what came after; exit code 1 where that has expired"],
      ),
    )
    .action(async (options: CommonOptions & { since?: string; limit?: string }) =>
      done(await (await query()).inventoryChanges(options, world)),
    );

  common(inventory.command("status").description("Counts of the store, and the state of the collector that runs here."))
    .addOption(output("table", "json"))
    .addHelpText("after", examples(["trawl inventory status", "exit code 1 where it is not ready"]))
    .action(async (options: Output<"table" | "json">) => done(await (await query()).inventoryStatus(options, world)));

  common(inventory.command("refresh").description("Have the running collector read objects anew."))
    .argument("<kind/namespace/name...>", "the objects; KIND/NAME where a kind has no namespace")
    .addHelpText("after", examples(["trawl inventory refresh Pod/shop/cart-0 Node/node-a", "one GET each, no list"]))
    .action(async (names: readonly string[], options: CommonOptions) =>
      done(await (await query()).inventoryRefresh(names, options, world)),
    );

  common(inventory.command("role").description("The role that following these kinds takes, as manifests."))
    .addHelpText(
      "after",
      examples(["trawl inventory role --config inventory.yaml | kubectl apply -f -", "give it what `kinds:` needs"]),
    )
    .action(async (options: CommonOptions) => done(await (await import("./role.ts")).inventoryRole(options, world)));

  common(inventory.command("purge").description("What the retention would take away."))
    .option("--dry-run", "only count")
    .addHelpText("after", examples(["trawl inventory purge --dry-run", "the collector purges by itself"]))
    .action(async (options: CommonOptions & { dryRun?: boolean }) =>
      done(await (await query()).inventoryPurge(options, world)),
    );
}

function output(first: string, ...others: readonly string[]): Option {
  return new Option("-o, --output <format>", "how it is written").choices([first, ...others]).default(first);
}
