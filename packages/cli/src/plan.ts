import type { Configuration } from "@trawler/config";
import type { ResolvedPipeline } from "./resolve.ts";
import { VERSION } from "./version.ts";

/** What a run will do, before it does it. */
export interface Plan {
  readonly configuration: Configuration;
  readonly node: string;
  readonly pipelines: readonly ResolvedPipeline[];
  /** What each environment says that it found and took, by the pipeline's name; absent while it is not made. */
  readonly environments: ReadonlyMap<string, string>;
  /** Further lines: addresses, sockets, folders. */
  readonly served: readonly (readonly [label: string, text: string])[];
}

/** How a plan paints: headings, names and remarks; the identity functions where there are no colours. */
export interface Paint {
  readonly strong: (text: string) => string;
  readonly name: (text: string) => string;
  readonly faint: (text: string) => string;
}

export const PLAIN: Paint = { strong: (text) => text, name: (text) => text, faint: (text) => text };
export const COLOURS: Paint = {
  strong: (text) => `\u001b[1m${text}\u001b[0m`,
  name: (text) => `\u001b[36m${text}\u001b[0m`,
  faint: (text) => `\u001b[2m${text}\u001b[0m`,
};

const LABEL = 13;
const WIDTH = 100;

/** The plan for people: what loads, what matches, what is missing. */
export function formatPlan(plan: Plan, { strong, name, faint }: Paint): string {
  const { configuration, node, pipelines, served } = plan;
  const row = (label: string, text: string): string => `  ${label.padEnd(LABEL)}${text}`;
  const lines = [`${strong(`Trawler ${VERSION}`)} on node ${strong(node)}, cluster ${configuration.cluster.name}`];
  lines.push(
    faint(configuration.file === null ? "no configuration file: the defaults" : `configuration ${configuration.file}`),
  );
  for (const pipeline of pipelines) {
    lines.push("", strong(`pipeline ${pipeline.id}`) + faint(`, every ${pipeline.every} s`));
    const { environment, mode, crawlers, emitters, detections, left } = pipeline;
    const detail =
      plan.environments.get(pipeline.id) ??
      detections.find(({ found }) => found)?.detail ??
      environment.plugin.description;
    lines.push(row("environment", `${name(environment.id)}  ${faint(detail)}`));
    for (const { name: other, detail: why } of detections.filter(({ found }) => !found)) {
      lines.push(row("", faint(`${other === environment.plugin.name ? "not found here" : `not ${other}`}: ${why}`)));
    }
    lines.push(row("mode", `${name(mode.id)}  ${faint(mode.plugin.description)}`));
    const system = crawlers.filter(({ plugin }) => !plugin.match);
    for (const [index, text] of wrap(
      system.map(({ id, every }) => (every === undefined ? id : `${id} (every ${every} s)`)),
      WIDTH,
    ).entries()) {
      lines.push(row(index === 0 ? "crawlers" : "", name(text)));
    }
    const matching = crawlers.filter(({ plugin }) => plugin.match);
    for (const [index, { id, plugin }] of matching.entries()) {
      const first = index === 0 && system.length === 0;
      const rules = [rule("image", plugin.match?.image), rule("process", plugin.match?.process)].filter(
        (text) => text !== "",
      );
      lines.push(row(first ? "crawlers" : "", `${name(id)}  ${faint(`where ${rules.join(", or ")}`)}`));
    }
    lines.push(row("emitters", `${emitters.map(({ id }) => name(id)).join(" ")}`));
    for (const [index, fault] of left.entries()) lines.push(row(index === 0 ? "left out" : "", faint(fault)));
  }
  if (served.length > 0) lines.push("", ...served.map(([label, text]) => row(label, faint(text))));
  return `${lines.join("\n")}\n`;
}

/** The plan as fields of one log record. */
export function planFields({ configuration, node, pipelines, environments, served }: Plan): object {
  return {
    version: VERSION,
    node,
    cluster: configuration.cluster.name,
    file: configuration.file,
    pipelines: pipelines.map((pipeline) => ({
      id: pipeline.id,
      every: pipeline.every,
      environment: pipeline.environment.id,
      found: environments.get(pipeline.id) ?? null,
      detections: pipeline.detections,
      mode: pipeline.mode.id,
      crawlers: pipeline.crawlers.map(({ id }) => id),
      emitters: pipeline.emitters.map(({ id }) => id),
      leftOut: pipeline.left,
    })),
    ...Object.fromEntries(served),
  };
}

function rule(what: string, globs: readonly string[] | undefined): string {
  return globs && globs.length > 0 ? `${what} is ${globs.slice(0, 3).join(", ")}${globs.length > 3 ? " …" : ""}` : "";
}

function wrap(words: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return line === "" ? lines : [...lines, line];
}
