import { parentPort } from "node:worker_threads";
import { errorMessage } from "@trawler/plugin-api";
import type { TemplateFile } from "../catalogue/files.ts";
import { type CatalogueEntry, entryOf, findTemplate, listTemplates } from "../catalogue/list.ts";
import { readAnswers } from "../dialog/answers.ts";
import { buildDialog } from "../dialog/build.ts";
import type { AnswerFault, Dialog } from "../dialog/types.ts";
import { parseJson } from "../json.ts";
import { maskTemplate, placed } from "../template/mask.ts";
import { processTemplate } from "../template/process.ts";
import { readTemplate } from "../template/read.ts";
import type { Mode, ParameterValue, ProcessedObject, TemplateDocument, TemplateFault } from "../template/types.ts";

/** What goes between the threads is copied: so JSON goes as its text, which keeps numbers exact and maps as they are. */
type JsonText = string;

export interface TemplateValues {
  readonly namespace: string | null;
  readonly createNamespace: boolean;
  /** As they were given. */
  readonly values: readonly (readonly [name: string, value: string])[];
}

export interface ThreadPrepared extends TemplateValues {
  readonly kind: "prepared";
  readonly name: string | null;
  readonly digest: string;
  readonly mode: Mode;
  readonly objects: readonly (Omit<ProcessedObject, "body"> & { readonly body: JsonText })[];
  readonly message: string | null;
  readonly parameters: readonly ParameterValue[];
  readonly faults: readonly TemplateFault[];
  /** To be shown: secrets are dots. */
  readonly masked: {
    readonly message: string | null;
    readonly objects: JsonText;
    readonly parameters: readonly ParameterValue[];
  };
}

/** A text, or the name of a template that one of these files holds. */
export type TemplateSource = TemplateFile | { readonly name: string; readonly files: readonly TemplateFile[] };

export type ThreadRefused =
  | { readonly kind: "missing"; readonly name: string }
  | { readonly kind: "faulty"; readonly faults: readonly TemplateFault[] }
  | { readonly kind: "unfit"; readonly answers: readonly AnswerFault[] };

export interface ThreadDialog {
  readonly kind: "dialog";
  readonly entry: CatalogueEntry;
  readonly dialog: Dialog;
}

/** What the thread is asked, and what it answers. */
export interface TemplateJobs {
  readonly list: { readonly asked: readonly TemplateFile[]; readonly answer: readonly CatalogueEntry[] };
  readonly dialog: {
    readonly asked: { readonly source: TemplateSource; readonly mode: Mode };
    readonly answer: ThreadDialog | ThreadRefused;
  };
  readonly prepare: {
    readonly asked: {
      readonly source: TemplateSource;
      readonly mode: Mode;
      readonly ignoreUnknown: boolean;
      readonly given: TemplateValues | { readonly answers: JsonText };
    };
    readonly answer: ThreadPrepared | ThreadRefused;
  };
}
export type JobKind = keyof TemplateJobs;
export type Asked = {
  readonly [K in JobKind]: { readonly kind: K; readonly asked: TemplateJobs[K]["asked"] };
}[JobKind];
export type Answered = { readonly answer: TemplateJobs[JobKind]["answer"] } | { readonly failed: string };

interface Found {
  readonly file: string;
  readonly document: TemplateDocument;
}

function work(job: Asked): TemplateJobs[JobKind]["answer"] {
  if (job.kind === "list") return listTemplates(job.asked);
  const { source, mode } = job.asked;
  const found = read(source, mode);
  if (found === null) return { kind: "missing", name: "name" in source ? source.name : "" };
  return job.kind === "dialog" ? form(found, mode) : prepare(found.document, job.asked);
}

/** Once: all that is asked of a template is asked of this. */
function read(source: TemplateSource, mode: Mode): Found | null {
  if ("name" in source) return findTemplate(source.files, source.name, mode);
  return { file: source.file, document: readTemplate(source.text, source.file, mode) };
}

function form({ file, document }: Found, mode: Mode): TemplateJobs["dialog"]["answer"] {
  const { dialog, faults } = buildDialog(document, mode);
  if (dialog === null) return { kind: "faulty", faults };
  return { kind: "dialog", entry: entryOf(file, document), dialog };
}

function prepare(
  document: TemplateDocument,
  { mode, ignoreUnknown, given }: TemplateJobs["prepare"]["asked"],
): TemplateJobs["prepare"]["answer"] {
  const target = "answers" in given ? answered(document, mode, given.answers) : given;
  if ("kind" in target) return target;
  const { namespace, values } = target;
  const { template, faults } = processTemplate(document, { mode, values, namespace, ignoreUnknown });
  if (template === null) return { kind: "faulty", faults };
  const { objects, parameters, message } = maskTemplate(template);
  return {
    kind: "prepared",
    ...target,
    name: template.template.name,
    digest: template.template.digest,
    mode,
    objects: template.objects.map((object) => ({ ...object, body: JSON.stringify(object.body) })),
    message: template.message,
    parameters: template.parameters,
    faults,
    masked: { message, parameters, objects: JSON.stringify(objects.map(placed)) },
  };
}

function answered(document: TemplateDocument, mode: Mode, answers: JsonText): TemplateValues | ThreadRefused {
  const { dialog, faults } = buildDialog(document, mode);
  if (dialog === null) return { kind: "faulty", faults };
  const result = readAnswers(dialog, parseJson(answers));
  if (result.faults.length > 0 || result.target === null) return { kind: "unfit", answers: result.faults };
  const { namespace, create } = result.target;
  return { namespace, createNamespace: create, values: result.values };
}

parentPort?.on("message", (job: Asked) => {
  const tell = (answered: Answered): void => parentPort?.postMessage(answered);
  try {
    tell({ answer: work(job) });
  } catch (error) {
    tell({ failed: errorMessage(error) });
  }
});
