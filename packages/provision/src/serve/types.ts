import type { RunSettings } from "../journal/record.ts";
import type { JsonValue } from "../json.ts";
import type { PreflightOptions } from "../preflight/types.ts";
import type { Mode } from "../template/types.ts";

/** A template with values, as a request gives it. */
export interface TemplateRequest {
  /** One of the catalogue by its name, or a text. */
  readonly template: { readonly name: string } | { readonly source: string; readonly file?: string };
  readonly mode?: Mode;
  readonly values?: Readonly<Record<string, string>>;
  /** Answers of the template's form, instead of values and namespace. */
  readonly answers?: JsonValue;
  readonly ignoreUnknownParameters?: boolean;
  readonly namespace?: string;
  readonly createNamespace?: boolean;
  readonly existing?: PreflightOptions["existing"];
  readonly order?: PreflightOptions["order"];
  readonly dryRun?: boolean;
}

export interface PlanRequest extends TemplateRequest {
  /** Ask the cluster too: kinds, rights, quota, dry run. Nothing is created. */
  readonly server?: boolean;
}

export interface CreateRequest extends TemplateRequest {
  /** A ULID in lower case that the client made: sent again, the request makes no second instance. */
  readonly instance?: string;
  /** Durations in milliseconds. */
  readonly settings?: Partial<RunSettings>;
}
