import { TrawlerError } from "@trawler/plugin-api";
import {
  buildDialog,
  Cluster,
  type Dialog,
  formatFault,
  isFatal,
  listTemplates,
  type Mode,
  markRights,
  type ProcessResult,
  previewDialog,
  processTemplate,
  readTemplateFiles,
  type TemplateFault,
  type TemplateFile,
} from "@trawler/provision";
import type { World } from "../../world.ts";
import { type ClusterOptions, openCluster, REFUSED } from "./cluster.ts";
import { readValues, type ValueOptions } from "./values.ts";

export interface TemplateOptions extends ValueOptions {
  readonly file: readonly string[];
  readonly namespace?: string;
  readonly ignoreUnknownParameters?: boolean;
  readonly showSecrets?: boolean;
  readonly mode: Mode;
}

export interface DialogOptions extends Omit<ClusterOptions, "state"> {
  readonly file: string;
  readonly mode: Mode;
  readonly preview?: boolean;
  readonly server?: boolean;
  readonly namespace?: string;
}

export interface CatalogOptions {
  readonly mode: Mode;
  readonly output: "table" | "json";
}

const stdin = (): AsyncIterable<unknown> => process.stdin;

/** Processes every file with the same values. Names that only some of several templates have are right for all. */
export async function processFiles(
  files: readonly TemplateFile[],
  options: TemplateOptions,
): Promise<readonly (ProcessResult & { readonly file: string })[]> {
  const values = await readValues(options);
  const { mode, namespace = null, ignoreUnknownParameters: ignoreUnknown = false } = options;
  const run = (file: TemplateFile, dropUnknown: boolean) =>
    processTemplate(file.text, { mode, values, namespace, ignoreUnknown: dropUnknown, file: file.file });
  if (files.length === 1 || ignoreUnknown)
    return files.map((file) => ({ file: file.file, ...run(file, ignoreUnknown) }));
  const results = files.map((file) => ({ file: file.file, ...run(file, true) }));
  const known = new Set(results.flatMap(({ template }) => template?.parameters.map(({ name }) => name) ?? []));
  const complete = results.every(({ template }) => template !== null);
  const unknown = complete ? values.map(([name]) => name).filter((name) => !known.has(name)) : [];
  if (unknown.length === 0) return results;
  // Told once, by the first template; the others have it no more than that.
  return results.map((result, index) => {
    const [first] = files;
    return index === 0 && first ? { file: result.file, ...run(first, false) } : result;
  });
}

/** The files that `-f` names. */
export async function templateFiles(paths: readonly string[]): Promise<readonly TemplateFile[]> {
  const files: TemplateFile[] = [];
  for (const each of paths) files.push(...(await readTemplateFiles(each, stdin)));
  if (files.length === 0)
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `${paths.join(", ")}: no YAML or JSON file is there`);
  return files;
}

/** `trawl provision dialog`: 0, or 3 with all faults at once on stderr. */
export async function dialog(options: DialogOptions, world: World): Promise<number> {
  const { file: path, mode, preview, server, namespace = null } = options;
  const [file, second] = await templateFiles([path]);
  if (!file || second)
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `${path}: a form is made of one template; name its file`);
  const { dialog: built, faults } = buildDialog(file.text, mode, file.file);
  await writeFaults(faults, world, "a form");
  if (built === null) return REFUSED;
  const form = server === true ? await withRights(built, namespace, options, world) : built;
  await world.stdout.write(preview === true ? previewDialog(form) : `${JSON.stringify(form, null, 2)}\n`);
  return 0;
}

async function withRights(
  form: Dialog,
  namespace: string | null,
  options: DialogOptions,
  world: World,
): Promise<Dialog> {
  using client = await openCluster(options, world, 8);
  return await markRights(new Cluster(client, options.requestTimeout), form, namespace);
}

/** `trawl provision catalog`: 0, or 3 where a template of the folder cannot be used. */
export async function catalog(folder: string, { mode, output }: CatalogOptions, world: World): Promise<number> {
  const entries = listTemplates(await readTemplateFiles(folder, stdin), mode);
  const faults = entries.flatMap((entry) => entry.faults);
  if (output === "json") await world.stdout.write(`${JSON.stringify(entries, null, 2)}\n`);
  else {
    const width = Math.max(4, ...entries.map(({ name }) => (name ?? "?").length)) + 2;
    const rows = entries.map((entry) => {
      const what = entry.description ?? entry.displayName ?? "";
      const bad = entry.faults.length === 0 ? "" : `  [${counted(entry.faults.length, "fault")}]`;
      const size = `${counted(entry.parameters, "parameter")}, ${counted(entry.objects, "object")}`;
      return `${(entry.name ?? "?").padEnd(width)}${what}${bad}\n${" ".repeat(width)}${entry.file}, ${size}\n`;
    });
    await world.stdout.write(rows.length === 0 ? `no template in ${folder}\n` : rows.join(""));
  }
  await writeFaults(faults, world, "the catalogue");
  return isFatal(faults) ? REFUSED : 0;
}

/** What the faults of a template stand against. */
type Purpose = "the plan" | "a form" | "the catalogue" | "a run";

/** All faults, one a line; errors say first what comes of them. */
export async function writeFaults(
  faults: readonly TemplateFault[],
  { stderr }: World,
  purpose: Purpose = "a run",
): Promise<void> {
  const errors = faults.filter(({ severity }) => severity === "error").length;
  if (errors > 0) await stderr.write(`trawl: ${HEADS[purpose](counted(errors, "fault"))}\n`);
  for (const fault of faults) await stderr.write(`${errors > 0 ? "  " : "trawl: "}${formatFault(fault)}\n`);
}

const HEADS: Readonly<Record<Purpose, (faults: string) => string>> = {
  "the plan": (faults) => `there is no plan, the template and its values have ${faults}:`,
  "a form": (faults) => `there is no form, the template has ${faults}:`,
  "the catalogue": (faults) => `templates here cannot be used, they have ${faults}:`,
  "a run": (faults) => `refused, nothing was created: the template and its values have ${faults}:`,
};

/** `1 object`, `2 objects`. */
function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
