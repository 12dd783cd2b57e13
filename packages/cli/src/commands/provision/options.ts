import { parseDuration } from "@trawler/plugin-api";
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

/** Milliseconds, up to what a timer can wait for. */
export function duration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds !== null && milliseconds < 2 ** 31) return milliseconds;
  throw new InvalidArgumentError("It is a duration up to 596h, such as 30s or 5m.");
}

/** Milliseconds, of any length. */
export function age(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds !== null) return milliseconds;
  throw new InvalidArgumentError("It is a duration such as 30m or 720h.");
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
