import { setImmediate as nextTurn } from "node:timers/promises";
import { readTemplateFiles, type TemplateFile } from "../catalogue/files.ts";
import type { CatalogueEntry } from "../catalogue/list.ts";
import { emptyMap, isMap, parseJson } from "../json.ts";
import { isFatal } from "../template/faults.ts";
import { redactor } from "../template/redact.ts";
import type { Mode, ProcessedObject, ProcessedTemplate, TemplateFault } from "../template/types.ts";
import { notFound, Refusal } from "./refusal.ts";
import type { TemplateSource, TemplateValues, ThreadDialog, ThreadPrepared, ThreadRefused } from "./template-thread.ts";
import type { TemplateWork } from "./template-work.ts";
import type { TemplateRequest } from "./types.ts";

export interface TemplateSourceOptions {
  /** A folder, read anew for each request; null: there is none. */
  readonly catalogue: string | null;
  /** Take texts that clients send. */
  readonly inline: boolean;
}

/** A template with values, and where its objects go. */
export interface Prepared extends TemplateValues {
  /** Without its objects as they were written. */
  readonly template: ProcessedTemplate;
  readonly faults: readonly TemplateFault[];
  /** To be shown, secrets as dots; the objects as JSON text. */
  readonly masked: ThreadPrepared["masked"];
}

/** Milliseconds after which others get their turn. */
const SLICE = 10;

/** The templates that a service knows, and what requests make of them. */
export class Templates {
  readonly #options: TemplateSourceOptions;
  readonly #work: TemplateWork;

  constructor(options: TemplateSourceOptions, work: TemplateWork) {
    this.#options = options;
    this.#work = work;
  }

  /** Good and bad ones. Files are named without their folder. */
  async list(): Promise<readonly CatalogueEntry[]> {
    return await this.#work.run("list", await this.#files());
  }

  /**
   * A template of the catalogue, and its form. Throws a Refusal: 404 where there is none of that name, 422 where it has
   * faults.
   */
  async dialog(name: string, mode: Mode): Promise<Pick<ThreadDialog, "entry" | "dialog">> {
    const answer = await this.#work.run("dialog", { source: { name, files: await this.#files() }, mode });
    if (answer.kind !== "dialog") throw refused(answer);
    return answer;
  }

  /** Puts the values in. Throws a Refusal with all faults at once. */
  async prepare(request: TemplateRequest): Promise<Prepared> {
    const { mode = "strict", ignoreUnknownParameters: ignoreUnknown = false, answers } = request;
    const { namespace = null, createNamespace = false, values = {} } = request;
    const source = await this.#sourceOf(request);
    const given =
      answers === undefined
        ? { namespace, createNamespace, values: Object.entries(values) }
        : { answers: JSON.stringify(answers) };
    const answer = await this.#work.run("prepare", { source, mode, ignoreUnknown, given });
    if (answer.kind !== "prepared") throw refused(answer);
    return await preparedOf(answer);
  }

  async #sourceOf({ template }: TemplateRequest): Promise<TemplateSource> {
    if ("name" in template) return { name: template.name, files: await this.#files() };
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

async function preparedOf(answer: ThreadPrepared): Promise<Prepared> {
  const { namespace, createNamespace, values, faults, masked, mode, message, parameters, name, digest } = answer;
  const objects: ProcessedObject[] = [];
  let turn = performance.now();
  for (const { body: text, ...object } of answer.objects) {
    const body = parseJson(text);
    objects.push({ ...object, body: isMap(body) ? body : emptyMap() });
    if (performance.now() - turn < SLICE) continue;
    await nextTurn();
    turn = performance.now();
  }
  const template = {
    ...{ name, digest, message: null, description: null, displayName: null },
    ...{ annotations: {}, labels: {}, parameters: [], objects: [] },
  };
  const redact = redactor(parameters.filter(({ secret }) => secret).map(({ value }) => value));
  return {
    ...{ namespace, createNamespace, values, faults, masked },
    template: { template, mode, objects, message, parameters, labels: {}, redact },
  };
}

function refused(answer: ThreadRefused): Refusal {
  if (answer.kind === "missing") return notFound(`there is no template ${answer.name.slice(0, 100)} in the catalogue`);
  if (answer.kind === "faulty") return faulty(answer.faults);
  const { answers } = answer;
  return new Refusal(422, { code: "TRAWLER_CONFIG_INVALID", message: "the answers do not fit the form", answers });
}

function faulty(faults: readonly TemplateFault[]): Refusal {
  const errors = faults.filter(({ severity }) => severity === "error").length;
  const message = `the template or its values have ${errors === 1 ? "a fault" : `${errors} faults`}`;
  return new Refusal(422, { code: "TRAWLER_CONFIG_INVALID", message, faults: isFatal(faults) ? faults : [] });
}
