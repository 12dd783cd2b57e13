/** A kind that the server knows, or that a definition in the same set brings. */
export interface ResourceType {
  readonly apiVersion: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Why the server refused, or that it gave no answer. Texts are redacted before they are kept. */
export interface ObjectError {
  /** HTTP status; null where there was no answer. */
  readonly code: number | null;
  /** The server's word, such as `Invalid`; ours are `NoAnswer`, `Conflict`, `Cancelled`, `Timeout` and those of waiting. */
  readonly reason: string;
  readonly message: string;
  /** Fields that the server objects to. */
  readonly causes: readonly { readonly field: string; readonly message: string }[];
}

/** What one request came to. */
export type Outcome =
  | { readonly ok: true; readonly object: Record<string, unknown> }
  | {
      readonly ok: false;
      readonly error: ObjectError;
      /** Seconds that the server asks to wait. */
      readonly retryAfter: number | null;
    };

/** What of an object's metadata is looked at. */
export interface Metadata {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | null;
  readonly resourceVersion: string | null;
  readonly generation: number;
  readonly createdAt: string;
  readonly deletedAt: string | null;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly finalizers: readonly string[];
  readonly owners: readonly string[];
}
