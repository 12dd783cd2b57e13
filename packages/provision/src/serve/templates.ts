import { readTemplateFiles, type TemplateFile } from "../catalogue/files.ts";
import { type CatalogueEntry, listTemplates } from "../catalogue/list.ts";
import { readAnswers } from "../dialog/answers.ts";
import { buildDialog } from "../dialog/build.ts";
import type { Dialog } from "../dialog/types.ts";
import { isFatal } from "../template/faults.ts";
import { processTemplate } from "../template/process.ts";
import type { Mode, ProcessedTemplate, TemplateFault } from "../template/types.ts";
import { notFound, Refusal } from "./refusal.ts";
import type { TemplateRequest } from "./types.ts";

export interface TemplateSourceOptions {
  /** A folder, read anew for each request; null: there is none. */
  readonly catalogue: string | null;
  /** Take texts that clients send. */
  readonly inline: boolean;
}

/** A template with values, and where its objects go. */
export interface Prepared {
  readonly template: ProcessedTemplate;
  readonly faults: readonly TemplateFault[];
  readonly namespace: string | null;
  readonly createNamespace: boolean;
  /** Values as they were given. */
  readonly values: readonly (readonly [name: string, value: string])[];
}

/** The templates that a service knows, and what requests make of them. */
export class Templates {
  readonly #options: TemplateSourceOptions;

  constructor(options: TemplateSourceOptions) {
    this.#options = options;
  }

  /** Good and bad ones. Files are named without their folder. */
  async list(): Promise<readonly CatalogueEntry[]> {
    return listTemplates(await this.#files());
  }

  /** Throws a Refusal with 404 where there is none of that name. */
  async find(name: string): Promise<TemplateFile & { readonly entry: CatalogueEntry }> {
    const files = await this.#files();
    const entry = listTemplates(files).find((one) => one.name === name);
    const file = files.find((one) => one.file === entry?.file);
    if (entry === undefined || file === undefined)
      throw notFound(`there is no template ${name.slice(0, 100)} in the catalogue`);
    return { ...file, entry };
  }

  /** The form of a template of the catalogue. Throws a Refusal with 422 where the template has faults. */
  async dialog(name: string, mode: Mode): Promise<Dialog> {
    const { file, text } = await this.find(name);
    const { dialog, faults } = buildDialog(text, mode, file);
    if (dialog === null) throw faulty(faults);
    return dialog;
  }

  /** Puts the values in. Throws a Refusal with all faults at once. */
  async prepare(request: TemplateRequest): Promise<Prepared> {
    const { mode = "strict", ignoreUnknownParameters: ignoreUnknown = false } = request;
    const { file, text } = await this.#textOf(request);
    const target = this.#target(request, text, file, mode);
    const { namespace, values } = target;
    const { template, faults } = processTemplate(text, { mode, values, namespace, ignoreUnknown, file });
    if (template === null) throw faulty(faults);
    return { ...target, template, faults };
  }

  #target(
    request: TemplateRequest,
    text: string,
    file: string,
    mode: Mode,
  ): Pick<Prepared, "namespace" | "createNamespace" | "values"> {
    const { answers, namespace = null, createNamespace = false } = request;
    if (answers === undefined) return { namespace, createNamespace, values: Object.entries(request.values ?? {}) };
    const { dialog, faults } = buildDialog(text, mode, file);
    if (dialog === null) throw faulty(faults);
    const read = readAnswers(dialog, answers);
    if (read.faults.length > 0 || read.target === null) {
      const message = "the answers do not fit the form";
      throw new Refusal(422, { code: "TRAWLER_CONFIG_INVALID", message, answers: read.faults });
    }
    return { namespace: read.target.namespace, createNamespace: read.target.create, values: read.values };
  }

  async #textOf({ template }: TemplateRequest): Promise<TemplateFile> {
    if ("name" in template) return this.find(template.name);
    if (!this.#options.inline) {
      const message = "this service takes templates of its catalogue only: name one";
      throw new Refusal(403, { code: "TRAWLER_DENIED", message });
    }
    return { file: template.file ?? "template", text: template.source };
  }

  async #files(): Promise<readonly TemplateFile[]> {
    const { catalogue } = this.#options;
    if (catalogue === null) return [];
    const files = await readTemplateFiles(catalogue, async function* () {});
    return files.map(({ file, text }) => ({ file: file.slice(file.lastIndexOf("/") + 1), text }));
  }
}

function faulty(faults: readonly TemplateFault[]): Refusal {
  const errors = faults.filter(({ severity }) => severity === "error").length;
  const message = `the template or its values have ${errors === 1 ? "a fault" : `${errors} faults`}`;
  return new Refusal(422, { code: "TRAWLER_CONFIG_INVALID", message, faults: isFatal(faults) ? faults : [] });
}
