import { TrawlerError } from "@trawler/plugin-api";
import {
  begin,
  Cluster,
  DEFAULT_SETTINGS,
  type Finding,
  type PreflightOptions,
  type ProcessedTemplate,
  preflight,
  type RollbackPolicy,
  type Until,
} from "@trawler/provision";
import type { World } from "../../world.ts";
import { type ClusterOptions, openCluster, openFolder, REFUSED } from "./cluster.ts";
import { findInventory } from "./inventory.ts";
import { conduct, type OutputOptions } from "./run.ts";
import { processFiles, type TemplateOptions, templateFiles, writeFaults } from "./template.ts";

export interface ApplyOptions extends TemplateOptions, ClusterOptions, OutputOptions {
  readonly createNamespace?: boolean;
  readonly until: Until;
  readonly rollback?: RollbackPolicy;
  readonly parallel: number;
  readonly existing: PreflightOptions["existing"];
  readonly order: "kind" | "template";
  readonly dryRun: boolean;
  readonly keepGoing?: boolean;
  readonly keepData: boolean;
  /** Milliseconds. */
  readonly createTimeout?: number;
  readonly readyTimeout?: number;
  readonly rollbackTimeout?: number;
}

/** Checks, then creates. 0 SUCCEEDED, 1 FAILED, 3 refused before anything was created, 4 PARTIAL. */
export async function apply(options: ApplyOptions, world: World): Promise<number> {
  const template = await oneTemplate(options, world);
  if (template === null) return REFUSED;
  const namespace = options.namespace ?? null;
  const { parallel, existing, order, dryRun, createNamespace = false } = options;
  using client = await openCluster(options, world, parallel);
  const cluster = new Cluster(client, options.requestTimeout);
  const checks = { namespace, createNamespace, existing, order, dryRun, parallel, template: template.template.name };
  const result = await preflight(cluster, template.objects, checks);
  const errors = result.findings.filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    await refuse(result.findings, template, options, world);
    return REFUSED;
  }
  // A wrong one is told before anything is written down.
  if (options.inventory !== undefined) await findInventory(options, cluster, world);
  const settings = {
    until: options.until,
    rollback: options.rollback ?? null,
    parallel,
    keepGoing: options.keepGoing ?? false,
    keepData: options.keepData,
    createTimeout: options.createTimeout ?? DEFAULT_SETTINGS.createTimeout,
    readyTimeout: options.readyTimeout ?? DEFAULT_SETTINGS.readyTimeout,
    rollbackTimeout: options.rollbackTimeout ?? DEFAULT_SETTINGS.rollbackTimeout,
  };
  const folder = openFolder(options, world);
  using begun = begin({
    folder,
    template,
    preflight: result,
    namespace,
    server: cluster.server,
    settings,
    clock: world.clock,
  });
  if (options.output !== "json") await world.stderr.write(`instance ${begun.instance}\n`);
  return await conduct(begun.journal, "work", options, world);
}

/** Null where it has faults: they are on stderr then. */
async function oneTemplate(options: ApplyOptions, world: World): Promise<ProcessedTemplate | null> {
  const files = await templateFiles(options.file);
  if (files.length > 1) {
    const message = `an instance is of one template, and ${files.length} files are named; name one`;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", message);
  }
  const [result] = await processFiles(files, options);
  await writeFaults(result?.faults ?? [], world);
  return result?.template ?? null;
}

async function refuse(
  findings: readonly Finding[],
  template: ProcessedTemplate,
  { output }: OutputOptions,
  world: World,
): Promise<void> {
  const clean = findings.map((finding) => ({ ...finding, message: template.redact(finding.message) }));
  if (output === "json") {
    await world.stdout.write(`${JSON.stringify({ state: "REFUSED", findings: clean })}\n`);
    return;
  }
  const lines = clean.map(({ severity, message }) => `  ${severity === "warning" ? "warning: " : ""}${message}`);
  await world.stderr.write(`trawl: refused, nothing was created:\n${lines.join("\n")}\n`);
}
