import { TrawlerError } from "@trawler/plugin-api";
import {
  buildDialog,
  compareModes,
  formatFault,
  isFatal,
  listTemplates,
  type Mode,
  type ProcessResult,
  previewDialog,
  processTemplate,
  readTemplateFiles,
  type TemplateFault,
  type TemplateFile,
} from "@trawler/provision";
import type { World } from "../world.ts";
import { formatPlans, type Planned, planData, printYaml } from "./provision-format.ts";
import { readValues, type ValueOptions } from "./provision-values.ts";

/** Refused before anything was created. */
const REFUSED = 3;

export interface TemplateOptions extends ValueOptions {
  readonly file: readonly string[];
  readonly namespace?: string;
  readonly ignoreUnknownParameters?: boolean;
  readonly showSecrets?: boolean;
  readonly mode: Mode;
}

export interface PlanOptions extends TemplateOptions {
  readonly explain?: boolean;
  readonly output: "table" | "json" | "yaml";
}

export interface DialogOptions {
  readonly file: string;
  readonly mode: Mode;
  readonly preview?: boolean;
}

export interface CatalogOptions {
  readonly mode: Mode;
  readonly output: "table" | "json";
}

const stdin = (): AsyncIterable<unknown> => process.stdin;

/** `trawl provision plan`: 0, or 3 with all faults at once on stderr. */
export async function plan(options: PlanOptions, world: World): Promise<number> {
  const files = await templateFiles(options.file);
  if (options.explain === true) return explain(files, options, world);
  const results = await processFiles(files, options);
  const faults = results.flatMap((result) => result.faults);
  await writeFaults(faults, world);
  const planned = results.flatMap(({ file, template }): readonly Planned[] =>
    template === null ? [] : [{ file, template }],
  );
  const refused = isFatal(faults);
  const { output, showSecrets = false, namespace = null } = options;
  if (output === "table") {
    if (!refused) await world.stdout.write(formatPlans(planned, namespace, showSecrets));
  } else {
    const data = planData(refused ? [] : planned, faults, showSecrets);
    await world.stdout.write(output === "json" ? `${JSON.stringify(data, null, 2)}\n` : printYaml(data));
  }
  return refused ? REFUSED : 0;
}

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

async function explain(files: readonly TemplateFile[], options: PlanOptions, world: World): Promise<number> {
  const values = await readValues(options);
  for (const { file, text } of files) {
    const lines = compareModes(text, { values, file, namespace: options.namespace ?? null });
    await world.stdout.write(`${file}: ${lines.length === 0 ? "strict and compat mode agree" : "the modes differ"}\n`);
    for (const line of lines) await world.stdout.write(`  ${line}\n`);
  }
  return 0;
}

/** `trawl provision dialog`: 0, or 3 with all faults at once on stderr. */
export async function dialog({ file: path, mode, preview }: DialogOptions, world: World): Promise<number> {
  const [file, second] = await templateFiles([path]);
  if (!file || second)
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `${path}: a form is made of one template; name its file`);
  const { dialog: form, faults } = buildDialog(file.text, mode, file.file);
  await writeFaults(faults, world);
  if (form === null) return REFUSED;
  await world.stdout.write(preview === true ? previewDialog(form) : `${JSON.stringify(form, null, 2)}\n`);
  return 0;
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
      const bad = entry.faults.length === 0 ? "" : `  [${entry.faults.length} faults]`;
      return `${(entry.name ?? "?").padEnd(width)}${what}${bad}\n${" ".repeat(width)}${entry.file}, ${entry.parameters} parameters, ${entry.objects} objects\n`;
    });
    await world.stdout.write(rows.length === 0 ? `no template in ${folder}\n` : rows.join(""));
  }
  await writeFaults(faults, world);
  return isFatal(faults) ? REFUSED : 0;
}

/** All faults, one a line; errors say first that nothing was done. */
export async function writeFaults(faults: readonly TemplateFault[], { stderr }: World): Promise<void> {
  const errors = faults.filter(({ severity }) => severity === "error").length;
  if (errors > 0)
    await stderr.write(`trawl: refused, ${errors === 1 ? "1 fault" : `${errors} faults`}; nothing was created\n`);
  for (const fault of faults) await stderr.write(`${errors > 0 ? "  " : "trawl: "}${formatFault(fault)}\n`);
}
