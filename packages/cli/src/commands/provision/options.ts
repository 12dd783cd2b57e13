import { type Command, InvalidArgumentError, Option } from "commander";

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

/** The options of commands that check what a cluster makes of a template. */
export function placeOptions(command: Command): Command {
  return command
    .option("--create-namespace", "make that namespace too")
    .addOption(
      choice("--existing <policy>", "where an object exists already", ["fail", "skip", "adopt-if-ours"], "fail"),
    )
    .addOption(choice("--order <order>", "order of creation", ["kind", "template"], "kind"));
}

/** The options of every command that speaks to a cluster. */
export function accessOptions(command: Command): Command {
  return command
    .option("--kubeconfig <file>", "the cluster (default: $KUBECONFIG, the pod's account, ~/.kube/config)")
    .option("--context <name>", "a context of that file")
    .option("--request-timeout <duration>", "for one request; default 30s", duration);
}

export function mode(): Option {
  return choice("--mode <mode>", "strict, or compat: as OpenShift processes it", ["strict", "compat"], "strict");
}

export function choice(flags: string, description: string, choices: readonly string[], value: string): Option {
  return new Option(flags, description).choices([...choices]).default(value);
}

export function parallel(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 64)
    throw new InvalidArgumentError("It is a number from 1 to 64.");
  return count;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds. */
export function duration(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,6})(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined) throw new InvalidArgumentError("It is a duration such as 30s, 5m or 30d.");
  return Number(digits) * factor;
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
