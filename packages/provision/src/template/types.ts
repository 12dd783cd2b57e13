import type { JsonMap } from "../json.ts";

/**
 * How a template is read. `compat` does what the template processor of OpenShift does, with errors for its panics.
 * `strict` (the default everywhere) refuses what is ambiguous or lossy there: see `docs/templates.md`.
 */
export type Mode = "strict" | "compat";

/** What is wrong with a template or with the values given for it. */
export type FaultCode =
  /** The text is too large, nested too deep, or has too many values once its aliases are followed. */
  | "TOO_LARGE"
  /** It is neither YAML nor JSON. */
  | "SYNTAX"
  /** A key stands twice in one map. */
  | "DUPLICATE_KEY"
  /** It is no Template, or not of a version that is known. */
  | "NOT_A_TEMPLATE"
  /** A part of it has a wrong type or a missing part. */
  | "INVALID"
  /** A parameter has no name, or one that cannot be referred to. */
  | "PARAMETER_NAME"
  /** Two parameters have one name. */
  | "PARAMETER_DUPLICATE"
  /** A parameter is used in a way that loses it, or not at all. A warning. */
  | "PARAMETER_UNUSED"
  /** The value of a parameter is written as a number or a boolean. A warning in strict mode. */
  | "PARAMETER_VALUE"
  /** A required parameter has no value. */
  | "PARAMETER_REQUIRED"
  /** There is no generator of that name. */
  | "GENERATOR_UNKNOWN"
  /** The generator's expression is malformed. */
  | "GENERATOR_EXPRESSION"
  /** A value is given for a parameter that the template does not have. */
  | "VALUE_UNKNOWN"
  /** Two values are given for one parameter. */
  | "VALUE_DUPLICATE"
  /** `${NAME}` of no declared parameter. */
  | "REFERENCE_UNKNOWN"
  /** Two keys of one map become equal. */
  | "KEY_COLLISION"
  /** A key becomes something that is no text. */
  | "KEY_NOT_TEXT"
  /** An item of a list becomes null. */
  | "NULL_IN_LIST"
  /** A name, namespace, label or annotation that is no text. */
  | "NOT_TEXT"
  /** Labels cannot be put on this object. */
  | "LABELS"
  /** Two objects have the same kind, namespace and name. */
  | "OBJECT_DUPLICATE";

/**
 * One fault. `message` is one line, says what was found and how to mend it, and never holds a parameter's value.
 * Nothing of a template with an `error` may be created; a `warning` stops nothing.
 */
export interface TemplateFault {
  readonly severity: "error" | "warning";
  readonly code: FaultCode;
  readonly message: string;
  /** The name that the text was given with; null where the fault is in the values that were given. */
  readonly file: string | null;
  /** From 1; null where it is not known. */
  readonly line: number | null;
  readonly column: number | null;
  /** JSON pointer into the template, such as `/objects/2/metadata/name`; empty for the whole. */
  readonly path: string;
}

export interface Parameter {
  readonly name: string;
  readonly displayName: string | null;
  readonly description: string | null;
  /** Its default; null where there is none (or an empty one, which means the same). */
  readonly value: string | null;
  /** The generator's name; `expression` is the only one that exists. */
  readonly generate: string | null;
  /** The generator's expression. */
  readonly from: string | null;
  readonly required: boolean;
}

/** A template as it is written: shape checked, nothing substituted. */
export interface Template {
  readonly name: string | null;
  /** From the usual annotations `description` and `openshift.io/display-name`. */
  readonly description: string | null;
  readonly displayName: string | null;
  readonly annotations: Readonly<Record<string, string>>;
  readonly message: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly parameters: readonly Parameter[];
  readonly objects: readonly JsonMap[];
  /** SHA-256 of the text, hexadecimal. */
  readonly digest: string;
}

/** A template with the way from a JSON pointer back to its line. */
export interface TemplateDocument {
  readonly template: Template;
  /** Faults of its shape: all of them. */
  readonly faults: readonly TemplateFault[];
  /** A fault at the place in the text that `path` stands for, or its nearest ancestor that is there. */
  fault(
    severity: TemplateFault["severity"],
    code: FaultCode,
    path: readonly (string | number)[],
    message: string,
  ): TemplateFault;
}

/** One object to create. */
export interface ProcessedObject {
  /** Its place among the objects to create, from 0: the order of every report. */
  readonly index: number;
  /** JSON pointer of where it stands in the template (items of a List are objects of their own in strict mode). */
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
  /**
   * The namespace that it belongs into: its own where the template derives it from a parameter, else the target.
   * Null without a target, and for built-in kinds that have none. Whether another kind has one, discovery knows.
   */
  readonly namespace: string | null;
  /** Null where the server makes it from `generateName` (or where the object has neither). */
  readonly name: string | null;
  readonly generateName: string | null;
  /**
   * What to send. Numbers are exact (`JSON.stringify` writes them as they were written). `metadata.namespace` is there
   * only where the template derives it from a parameter; `placed` puts the target in.
   */
  readonly body: JsonMap;
}

export interface ParameterValue {
  readonly name: string;
  readonly value: string;
  readonly source: "given" | "default" | "generated" | "empty";
  /** Must not be shown, logged, or stored: it is generated, or its name or its use says that it is secret. */
  readonly secret: boolean;
}

/** A template with values: everything that is known before a cluster is asked. */
export interface ProcessedTemplate {
  readonly template: Template;
  readonly mode: Mode;
  /** In the template's order. */
  readonly objects: readonly ProcessedObject[];
  /** The message for who made it. May hold secrets; null where the template has none. */
  readonly message: string | null;
  readonly parameters: readonly ParameterValue[];
  /** The labels that were put on every object. */
  readonly labels: Readonly<Record<string, string>>;
  /**
   * Replaces every secret value in a text by dots, also in its base64 and JSON-escaped forms. Anything that is shown,
   * logged or stored and may quote an object (a server's answer) goes through it.
   */
  redact(text: string): string;
}

/** A uniform integer from 0 up to `bound` - 1. */
export type RandomInteger = (bound: number) => number;

export interface ProcessOptions {
  /** Default `strict`. */
  readonly mode?: Mode;
  /** Values as they were given; one name twice is a fault. A given value replaces the default and the generator. */
  readonly values?: readonly (readonly [name: string, value: string])[];
  /** Values for names that the template does not have are dropped instead of refused. */
  readonly ignoreUnknown?: boolean;
  /** The target namespace; null where it is not known yet. */
  readonly namespace?: string | null;
  /** Default: the system's cryptographic source. Tests give their own. */
  readonly random?: RandomInteger;
  /** The name of the text in faults. Default `template`. */
  readonly file?: string;
}

/** `template` is null where a fault is an error. `faults` holds all of them, in the order of the text. */
export interface ProcessResult {
  readonly template: ProcessedTemplate | null;
  readonly faults: readonly TemplateFault[];
}
