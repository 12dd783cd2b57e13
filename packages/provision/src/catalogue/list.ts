import { readTemplate } from "../template/read.ts";
import type { Mode, TemplateDocument, TemplateFault } from "../template/types.ts";
import { looksLikeTemplate, type TemplateFile } from "./files.ts";

/** One template of a catalogue. */
export interface CatalogueEntry {
  readonly file: string;
  /** Its name, or null where it cannot be told. */
  readonly name: string | null;
  readonly displayName: string | null;
  readonly description: string | null;
  readonly parameters: number;
  readonly objects: number;
  readonly digest: string;
  /** What keeps it from being used. */
  readonly faults: readonly TemplateFault[];
}

/** The templates among some files, good and bad ones; other files are left out. */
export function listTemplates(files: readonly TemplateFile[], mode: Mode = "strict"): readonly CatalogueEntry[] {
  return files
    .filter(({ text }) => looksLikeTemplate(text))
    .map(({ file, text }) => entryOf(file, readTemplate(text, file, mode)));
}

/** The first template of that name, as it was read to find it; null where there is none. */
export function findTemplate(
  files: readonly TemplateFile[],
  name: string,
  mode: Mode,
): { readonly file: string; readonly document: TemplateDocument } | null {
  for (const { file, text } of files) {
    if (!looksLikeTemplate(text)) continue;
    const document = readTemplate(text, file, mode);
    if (document.template.name === name) return { file, document };
  }
  return null;
}

export function entryOf(file: string, { template, faults }: TemplateDocument): CatalogueEntry {
  const { name, displayName, description, parameters, objects, digest } = template;
  return {
    file,
    name,
    displayName,
    description,
    parameters: parameters.length,
    objects: objects.length,
    digest,
    faults: faults.filter(({ severity }) => severity === "error"),
  };
}
