import type { ResourceType } from "../cluster/types.ts";
import type { JsonMap } from "../json.ts";

/** One thing that stands against a run, or that its user should know. */
export interface Finding {
  readonly severity: "error" | "warning";
  readonly check: "kind" | "namespace" | "duplicate" | "rights" | "existing" | "quota" | "dryRun" | "server";
  /** The object that it is about; null where it is about all. */
  readonly index: number | null;
  readonly message: string;
}

/** An object with its place in the cluster. */
export interface PlannedObject {
  readonly index: number;
  readonly path: string;
  readonly type: ResourceType;
  readonly deferred: boolean;
  readonly namespace: string | null;
  readonly name: string | null;
  readonly generateName: string | null;
  readonly wave: number;
  readonly body: JsonMap;
  /** There is one of that name already, and the policy lets that be. */
  readonly existing: boolean;
  /** Of that one; null where there is none, or where we may not look at it. */
  readonly uid: string | null;
  /** Why the server did not judge it before; null where it did, or was not to. */
  readonly unjudged: string | null;
}

export interface Preflight {
  /** Objects whose kind is known, in the order of the template. */
  readonly objects: readonly PlannedObject[];
  readonly findings: readonly Finding[];
}

export interface PreflightOptions {
  /** For objects that do not say their own; null = none was chosen. */
  readonly namespace: string | null;
  /** Adds the namespace to the objects, as the first. */
  readonly createNamespace: boolean;
  /**
   * What to do where an object of that name exists: refuse, leave it alone and go on, or that only where an earlier run
   * of the same template made it.
   */
  readonly existing: "fail" | "skip" | "adopt-if-ours";
  /** The template's name, by which its earlier objects are known. */
  readonly template?: string | null;
  readonly order: "kind" | "template";
  /** Ask the server to judge each object without keeping it. */
  readonly dryRun: boolean;
  readonly parallel: number;
}
