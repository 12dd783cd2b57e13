import { readTemplate } from "../template/read.ts";
import type { Mode, TemplateFault } from "../template/types.ts";
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
    .map(({ file, text }) => {
      const { template, faults } = readTemplate(text, file, mode);
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
    });
}
