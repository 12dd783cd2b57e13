import type { JsonMap } from "../json.ts";
import type { TemplateFault } from "../template/types.ts";

export type Control =
  | "text"
  | "textarea"
  | "password"
  | "switch"
  | "number"
  | "quantity"
  | "code"
  | "select"
  | "namespace";

/** One field of a form, for one parameter. */
export interface Field {
  readonly name: string;
  /** `displayName`, or the name as it is. */
  readonly label: string;
  readonly help: string | null;
  readonly control: Control;
  readonly type: "string" | "boolean" | "integer" | "number";
  /** An answer is needed: there is neither a generator, nor a default that the form must not show. */
  readonly required: boolean;
  /** Null where there is none, and for secrets, whose default is never shown. */
  readonly default: string | number | boolean | null;
  readonly placeholder: string | null;
  /** The only answers, the default first; null where any is right. */
  readonly options: readonly string[] | null;
  /** A regular expression that the whole answer matches. */
  readonly pattern: string | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly maxLength: number | null;
  readonly secret: boolean;
  readonly multiline: boolean;
  /** A value is made where the answer is left empty. */
  readonly generated: boolean;
  /** What a generated value looks like: a hint, no check. */
  readonly generatedPattern: string | null;
  readonly unused: boolean;
}

export interface KindCount {
  readonly apiVersion: string;
  readonly kind: string;
  readonly count: number;
  /** A built-in kind that belongs to no namespace: whoever creates it needs rights in the whole cluster. */
  readonly clusterScoped: boolean;
  /** Whether our credentials may create it; null where no cluster was asked, or where it does not say. */
  readonly mayCreate: boolean | null;
}

/** A form for one template. */
export interface Dialog {
  readonly title: string;
  readonly description: string | null;
  /** SHA-256 of the template that it was made from. */
  readonly digest: string;
  /** In the template's order. */
  readonly fields: readonly Field[];
  /** JSON Schema (2020-12) of the answers. */
  readonly schema: JsonMap;
  /** Hints of how to show it, in the form that `@rjsf/core` takes. */
  readonly ui: JsonMap;
  readonly creates: readonly KindCount[];
  /** Namespaces to choose from, sorted; null where no cluster was asked, or where it does not list them to us. */
  readonly namespaces: readonly string[] | null;
  /** The message with its references. */
  readonly message: string | null;
}

/** `dialog` is null where a fault is an error. */
export interface DialogResult {
  readonly dialog: Dialog | null;
  readonly faults: readonly TemplateFault[];
}

/** What is wrong with one answer; `path` is a JSON pointer into the answers. Never holds the answer. */
export interface AnswerFault {
  readonly path: string;
  readonly message: string;
}

/** Where the objects go: a namespace that exists, or one to create. */
export interface Target {
  readonly namespace: string;
  readonly create: boolean;
}

/** Answers as values to process the template with. `values` is empty where a fault is there. */
export interface AnswerResult {
  readonly target: Target | null;
  readonly values: readonly (readonly [name: string, value: string])[];
  readonly faults: readonly AnswerFault[];
}
