import { randomInt } from "node:crypto";
import { FaultList, isFatal, sortFaults } from "./faults.ts";
import { processObjects } from "./objects.ts";
import { readTemplate } from "./read.ts";
import { redactor } from "./redact.ts";
import { checkReferences } from "./references.ts";
import { secretParameters } from "./secret.ts";
import { MOST_SECRETS, secretTexts } from "./secret-texts.ts";
import { Substitution } from "./substitute.ts";
import type {
  ParameterValue,
  ProcessedObject,
  ProcessOptions,
  ProcessResult,
  TemplateDocument,
  TemplateFault,
} from "./types.ts";
import { templateUses } from "./uses.ts";
import { parameterValues } from "./values.ts";

/** What evaluation gives, faults or not: what is right stays usable for those who show it. */
export interface Evaluation {
  readonly message: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly parameters: readonly ParameterValue[];
  /** Null where an object has a fault; empty where a parameter has one. */
  readonly objects: readonly (ProcessedObject | null)[];
  readonly faults: readonly TemplateFault[];
}

/**
 * Checks a template and puts values in. Creates nothing and asks no cluster. Never throws.
 * @param source Its text, or a document that `readTemplate` gave for the same mode.
 */
export function processTemplate(source: string | TemplateDocument, options: ProcessOptions = {}): ProcessResult {
  const { mode = "strict", file = "template" } = options;
  const document = typeof source === "string" ? readTemplate(source, file, mode) : source;
  const { message, labels, parameters, faults, ...evaluated } = evaluate(document, options);
  if (isFatal(faults)) return { template: null, faults };
  const objects = evaluated.objects.filter((object) => object !== null);
  if (secretTexts({ parameters, objects }).length > MOST_SECRETS) {
    const why = `it has more than ${MOST_SECRETS} secret values; split the template`;
    return { template: null, faults: [...faults, document.fault("error", "TOO_LARGE", [], why)] };
  }
  const secrets = parameters.filter(({ secret }) => secret).map(({ value }) => value);
  return {
    template: {
      template: document.template,
      mode,
      objects,
      message,
      parameters,
      labels,
      redact: redactor(secrets),
    },
    faults,
  };
}

/** Processing, step by step: values, then references, then (where all parameters are right) message, labels, objects. */
export function evaluate(document: TemplateDocument, options: ProcessOptions): Evaluation {
  const { mode = "strict", values = [], ignoreUnknown = false, namespace = null } = options;
  const random = options.random ?? ((bound: number): number => randomInt(bound));
  const { template } = document;
  const faults = new FaultList(document.fault);
  const uses = templateUses(template);
  const secrets = secretParameters(template, uses);
  const parameters = parameterValues(template, { mode, given: values, ignoreUnknown, random, secrets }, faults);
  const parametersAreRight =
    !isFatal(faults.all) &&
    !document.faults.some(({ path, severity }) => severity === "error" && !path.startsWith("/objects/"));
  checkReferences(template, uses, mode, faults);
  const result = (part: Pick<Evaluation, "message" | "labels" | "objects">): Evaluation => ({
    ...part,
    parameters,
    faults: sortFaults([...document.faults, ...faults.all]),
  });
  if (!parametersAreRight) return result({ message: null, labels: {}, objects: [] });
  const substitution = new Substitution(mode, new Map(parameters.map(({ name, value }) => [name, value])), faults);
  const labels: Record<string, string> = Object.create(null);
  for (const [key, value] of Object.entries(template.labels)) labels[substitution.text(key)] = substitution.text(value);
  const message = template.message === null ? null : substitution.text(template.message);
  return result({
    message,
    labels,
    objects: processObjects(template.objects, substitution, { mode, labels, namespace }, faults),
  });
}
