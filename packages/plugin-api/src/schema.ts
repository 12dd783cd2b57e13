import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

/** A schema that validates and that prints itself as JSON Schema. zod 4 and arktype qualify as they are. */
export interface Schema<In = unknown, Out = In> {
  readonly "~standard": StandardSchemaV1.Props<In, Out> & StandardJSONSchemaV1.Props<In, Out>;
}

export type Input<S extends Schema> = StandardSchemaV1.InferInput<S>;
export type Output<S extends Schema> = StandardSchemaV1.InferOutput<S>;
