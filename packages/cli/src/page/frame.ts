import type { Digests, Feature, Frame, FrameContainer, MetadataGroup, Problem, Resource } from "@trawler/plugin-api";
import type { Paint } from "../plan.ts";
import { featureLines } from "./features.ts";
import type { PageOptions } from "./options.ts";
import { printable, showValue } from "./value.ts";

const LABEL = 27;

/**
 * A frame as a page for people: who the subject is and how that is known, then its own features, then each container's.
 * What was not measured is named as such; what could not be done stands as a problem. Ends with a line end.
 */
export function framePage(frame: Frame, options: PageOptions): string {
  const { paint } = options;
  return `${[
    ...identity(frame, paint),
    ...member(frame, options),
    ...frame.containers.flatMap((container) => ["", ...containerLines(container, options)]),
  ].join("\n")}\n`;
}

function identity(frame: Frame, paint: Paint): readonly string[] {
  const { metadata, status } = frame;
  const line = labelled(paint);
  return [
    `${paint.strong(frame.kind)} ${paint.name(printable(subjectOf(frame)))}`,
    line("seen", `${frame.time}, ${frame.reason}, frame ${frame.sequence}${frame.final ? ", the last" : ""}`),
    line("observed for", showValue(frame.observedFor, "s")),
    ...resourceLines(frame.resource, line),
    ...mapLines("labels", frame.labels, line),
    ...mapLines("annotations", frame.annotations, line),
    ...(status === null ? [] : statusLines(status, line)),
    ...(Object.keys(metadata.groups).length === 0 ? [] : [line("known by", groupsOf(Object.entries(metadata.groups)))]),
    ...(metadata.complete ? [] : [line("incomplete", printable(metadata.reason ?? "no reason was given"))]),
  ];
}

type Line = (label: string, text: string) => string;

const labelled =
  (paint: Paint): Line =>
  (label, text) =>
    `  ${paint.faint(label.padEnd(LABEL))} ${text}`;

function subjectOf({ resource }: Frame): string {
  const pod = resource["k8s.pod.name"];
  if (typeof pod === "string") return `${String(resource["k8s.namespace.name"])}/${pod}`;
  return String(resource["container.name"] ?? resource["container.id"] ?? resource["host.name"]);
}

const resourceLines = (resource: Resource, line: Line): readonly string[] =>
  Object.entries(resource)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => line(printable(name), showValue(value, null)));

function mapLines(label: string, map: Readonly<Record<string, string>>, line: Line): readonly string[] {
  const entries = Object.entries(map);
  return entries.map(([key, value], at) => line(at === 0 ? label : "", `${printable(key)}=${printable(value)}`));
}

function statusLines(status: NonNullable<Frame["status"]>, line: Line): readonly string[] {
  const { phase, reason, qosClass, startTime, hostNetwork, conditions } = status;
  const facts = [
    phase ?? "phase unknown",
    ...(reason === null ? [] : [reason]),
    ...(qosClass === null ? [] : [qosClass]),
    ...(startTime === null ? [] : [`since ${startTime}`]),
    ...(status.static ? ["static"] : []),
    ...(hostNetwork === true ? ["the node's network"] : []),
  ];
  const bad = conditions.filter((one) => one.status !== "True").map((one) => `${one.type} ${one.status}`);
  const good = conditions.filter((one) => one.status === "True").map(({ type }) => type);
  return [
    line("status", facts.map(printable).join(", ")),
    ...(good.length === 0 ? [] : [line("conditions", good.map(printable).join(", "))]),
    ...(bad.length === 0 ? [] : [line("not true", bad.map(printable).join(", "))]),
  ];
}

/** `api: labels, status; cri: identity`. */
function groupsOf(groups: readonly (readonly [string, MetadataGroup])[]): string {
  const bySource = Map.groupBy(groups, ([, { source }]) => source);
  return [...bySource].map(([source, own]) => `${source} (${own.map(([name]) => name).join(", ")})`).join(", ");
}

function containerLines(container: FrameContainer, options: PageOptions): readonly string[] {
  const { paint } = options;
  const { state, resources } = container;
  const line = labelled(paint);
  const facts = [
    state.status,
    ...(state.reason === null ? [] : [state.reason]),
    ...(state.exitCode === null ? [] : [`exit code ${state.exitCode}`]),
    ...(state.startedAt === null ? [] : [`since ${state.startedAt}`]),
    ...(state.finishedAt === null ? [] : [`until ${state.finishedAt}`]),
    state.restarts === null ? "restarts unknown" : `${state.restarts} restarts`,
  ];
  const last = state.lastTermination;
  return [
    `${paint.strong("container")} ${paint.name(printable(container.name))}${container.type === "app" ? "" : ` (${container.type})`}`,
    line("state", facts.map(printable).join(", ")),
    ...(last === null
      ? []
      : [line("before", printable(`${last.reason ?? "ended"}, exit code ${last.exitCode ?? "unknown"}`))]),
    line("image", printable(container.image)),
    ...(container.digest === null ? [] : [line("digest", printable(container.digest))]),
    ...(container.id === null ? [] : [line("id", printable(container.id))]),
    ...(resources === null ? [] : [line("resources", resourcesOf(resources))]),
    ...member(container, options),
  ];
}

function resourcesOf({ cpu, memory }: NonNullable<FrameContainer["resources"]>): string {
  const pair = (name: string, unit: string, request: number | null, limit: number | null): string =>
    `${name} ${request === null ? "no request" : `request ${showValue(request, unit)}`}, ${limit === null ? "no limit" : `limit ${showValue(limit, unit)}`}`;
  return [
    pair("cpu", "{cpu}", cpu.requestCurrent ?? cpu.requestDesired, cpu.limitCurrent ?? cpu.limitDesired),
    pair("memory", "By", memory.requestCurrent ?? memory.requestDesired, memory.limitCurrent ?? memory.limitDesired),
  ].join("; ");
}

/** What a pod, a container and a host have alike. */
function member(
  { features, problems, digests }: { features: readonly Feature[]; problems: readonly Problem[]; digests?: Digests },
  options: PageOptions,
): readonly string[] {
  const types = Map.groupBy(features, ({ type }) => type);
  return [
    ...[...types].flatMap(([type, own]) => featureLines(type, own, options)),
    ...Object.entries(digests ?? {})
      .filter(([, { included }]) => !included)
      .map(
        ([crawler, { observedAt }]) =>
          `  ${crawler}  ${options.paint.faint(`as in an earlier frame, seen ${observedAt}`)}`,
      ),
    ...problems.map(
      ({ crawler, code, message, count }) =>
        `  ${options.paint.strong(`${printable(crawler ?? "host")}: ${code}`)} ${printable(message)}${count === undefined ? "" : ` (${count} times)`}`,
    ),
  ];
}
