import { FaultList, isFatal, sortFaults } from "../template/faults.ts";
import { currentVersion, isClusterScoped } from "../template/kinds.ts";
import { flatten } from "../template/prepare.ts";
import { readTemplate } from "../template/read.ts";
import { checkReferences } from "../template/references.ts";
import type { Mode, Template, TemplateDocument } from "../template/types.ts";
import { templateUses } from "../template/uses.ts";
import { fieldOf } from "./field.ts";
import { answerSchema, uiHints } from "./schema.ts";
import type { Dialog, DialogResult, KindCount } from "./types.ts";

/**
 * Makes the form of a template. Never throws.
 * @param source Its text, or a document that `readTemplate` gave for the same mode.
 */
export function buildDialog(source: string | TemplateDocument, mode: Mode = "strict", file = "template"): DialogResult {
  const document = typeof source === "string" ? readTemplate(source, file, mode) : source;
  const { template } = document;
  const list = new FaultList(document.fault);
  const uses = templateUses(template);
  checkReferences(template, uses, mode, list);
  const faults = sortFaults([...document.faults, ...list.all]);
  if (isFatal(faults)) return { dialog: null, faults };
  // Of two parameters with one name the last one counts (compat mode only).
  const parameters = template.parameters.filter(
    ({ name }, index) => template.parameters.findLastIndex((other) => other.name === name) === index,
  );
  const fields = parameters.map((parameter) => fieldOf(parameter, template, uses, mode));
  const title = template.displayName ?? template.name ?? "Template";
  const dialog: Dialog = {
    title,
    description: template.description,
    digest: template.digest,
    fields,
    schema: answerSchema(title, template.description, fields),
    ui: uiHints(fields),
    creates: countKinds(template, mode),
    namespaces: null,
    message: template.message,
  };
  return { dialog, faults };
}

function countKinds(template: Template, mode: Mode): readonly KindCount[] {
  const counts = new Map<string, KindCount>();
  for (const { object } of flatten(template.objects, mode)) {
    const { kind, apiVersion } = object;
    if (typeof kind !== "string" || typeof apiVersion !== "string") continue;
    const version = currentVersion(apiVersion, kind);
    const key = `${version}/${kind}`;
    const count = (counts.get(key)?.count ?? 0) + 1;
    const clusterScoped = isClusterScoped(version, kind);
    counts.set(key, { apiVersion: version, kind, count, clusterScoped, mayCreate: null });
  }
  return [...counts.values()];
}

/** What a change of a template does to its form, by the names of fields. Answers are kept by name. */
export function compareDialogs(
  before: Dialog,
  after: Dialog,
): { readonly added: readonly string[]; readonly removed: readonly string[]; readonly changed: readonly string[] } {
  const old = new Map(before.fields.map((field) => [field.name, JSON.stringify(field)]));
  const names = new Set(after.fields.map(({ name }) => name));
  return {
    added: after.fields.filter(({ name }) => !old.has(name)).map(({ name }) => name),
    removed: [...old.keys()].filter((name) => !names.has(name)),
    changed: after.fields
      .filter((field) => old.has(field.name) && old.get(field.name) !== JSON.stringify(field))
      .map(({ name }) => name),
  };
}
