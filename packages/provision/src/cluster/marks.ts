import { emptyMap, isMap, type JsonMap, type JsonValue } from "../json.ts";
import { metadataOf } from "./read.ts";

/** Label: the run that made the object. */
export const INSTANCE_LABEL = "trawler.dev/instance";
/** Annotation: its place among the objects of the run. */
const OBJECT_ANNOTATION = "trawler.dev/object";
const TEMPLATE_ANNOTATION = "trawler.dev/template";
const DIGEST_ANNOTATION = "trawler.dev/template-digest";
/** Annotation that an author may set: the wave in which the object is created, a whole number. */
export const WAVE_ANNOTATION = "trawler.dev/wave";

export interface Marks {
  readonly instance: string;
  readonly index: number;
  readonly template: string | null;
  readonly digest: string;
}

/** The body with its namespace and our marks: nothing else of it changes, pod templates least of all. */
export function marked(body: JsonMap, namespace: string | null, marks: Marks): JsonMap {
  const metadata = isMap(body["metadata"]) ? body["metadata"] : {};
  return over(body, {
    metadata: over(metadata, {
      ...(namespace === null ? {} : { namespace }),
      labels: over(metadata["labels"], { [INSTANCE_LABEL]: marks.instance }),
      annotations: over(metadata["annotations"], {
        [OBJECT_ANNOTATION]: String(marks.index),
        [DIGEST_ANNOTATION]: marks.digest,
        ...(marks.template === null ? {} : { [TEMPLATE_ANNOTATION]: marks.template }),
      }),
    }),
  });
}

/** Whether an object of the cluster is the one that this run made at this place. */
export function isOurs(object: unknown, instance: string, index: number): boolean {
  const { labels, annotations } = metadataOf(object);
  return labels[INSTANCE_LABEL] === instance && annotations[OBJECT_ANNOTATION] === String(index);
}

/** Whether some run made the object from the template of this name. */
export function isOfTemplate(object: unknown, template: string | null): boolean {
  const { labels, annotations } = metadataOf(object);
  return typeof labels[INSTANCE_LABEL] === "string" && (annotations[TEMPLATE_ANNOTATION] ?? null) === template;
}

function over(base: JsonValue | undefined, change: Readonly<Record<string, JsonValue>>): JsonMap {
  return Object.assign(emptyMap(), isMap(base) ? base : {}, change);
}
