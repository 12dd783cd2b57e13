import {
  Cluster,
  compareModes,
  DEFAULT_SETTINGS,
  isFatal,
  type Preflight,
  type PreflightOptions,
  preflight,
  type TemplateFile,
} from "@trawler/provision";
import type { World } from "../../world.ts";
import { type ClusterOptions, openCluster, REFUSED } from "./cluster.ts";
import { formatPlans, type Planned, planData, printYaml } from "./format.ts";
import { processFiles, type TemplateOptions, templateFiles, writeFaults } from "./template.ts";
import { readValues } from "./values.ts";

export interface PlanOptions extends TemplateOptions, Omit<ClusterOptions, "state"> {
  readonly explain?: boolean;
  readonly server?: boolean;
  readonly createNamespace?: boolean;
  readonly existing: PreflightOptions["existing"];
  readonly order: PreflightOptions["order"];
  readonly output: "table" | "json" | "yaml";
}

/**
 * `trawl provision plan`: 0, or 3 where the template cannot be used (all faults at once on stderr), or, with `--server`,
 * where the cluster would not take it. Creates nothing.
 */
export async function plan(options: PlanOptions, world: World): Promise<number> {
  const files = await templateFiles(options.file);
  if (options.explain === true) return explain(files, options, world);
  const results = await processFiles(files, options);
  const faults = results.flatMap((result) => result.faults);
  await writeFaults(faults, world, "the plan");
  const planned = results.flatMap(({ file, template }): readonly Planned[] =>
    template === null ? [] : [{ file, template, server: null }],
  );
  const broken = isFatal(faults);
  const plans = options.server === true && !broken ? await askServer(planned, options, world) : planned;
  const { output, showSecrets = false, namespace = null } = options;
  if (output === "table") {
    if (!broken) await world.stdout.write(formatPlans(plans, namespace, showSecrets));
  } else {
    const data = planData(broken ? [] : plans, faults, showSecrets);
    await world.stdout.write(output === "json" ? `${JSON.stringify(data, null, 2)}\n` : printYaml(data));
  }
  const refused = plans.some(({ server }) => server?.findings.some(({ severity }) => severity === "error") === true);
  return broken || refused ? REFUSED : 0;
}

/** What the cluster says of each plan: kinds, namespaces, rights, quotas, and a dry run of each object. */
async function askServer(plans: readonly Planned[], options: PlanOptions, world: World): Promise<readonly Planned[]> {
  const { namespace = null, createNamespace = false, existing, order } = options;
  const { parallel } = DEFAULT_SETTINGS;
  using client = await openCluster(options, world, parallel);
  const cluster = new Cluster(client, options.requestTimeout);
  const checks = { namespace, createNamespace, existing, order, dryRun: true, parallel };
  const asked: Planned[] = [];
  for (const { file, template } of plans) {
    const result = await preflight(cluster, template.objects, { ...checks, template: template.template.name });
    const clean = (text: string): string => template.redact(text);
    const server: Preflight = {
      objects: result.objects,
      findings: result.findings.map((finding) => ({ ...finding, message: clean(finding.message) })),
    };
    asked.push({ file, template, server: { ...server, host: cluster.server } });
  }
  return asked;
}

async function explain(files: readonly TemplateFile[], options: PlanOptions, world: World): Promise<number> {
  const values = await readValues(options);
  for (const { file, text } of files) {
    const lines = compareModes(text, { values, file, namespace: options.namespace ?? null });
    await world.stdout.write(`${file}: ${lines.length === 0 ? "strict and compat mode agree" : "the modes differ"}\n`);
    for (const line of lines) await world.stdout.write(`  ${line}\n`);
  }
  return 0;
}
