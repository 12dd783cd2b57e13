import { isRecord } from "@trawler/kube";

type Raw = Readonly<Record<string, unknown>>;

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** What the reader holds of an object between its events. The bytes are handed on, then let go. */
export interface Held {
  readonly uid: string;
  readonly resourceVersion: string | null;
  readonly truncated?: true;
  payload: Uint8Array | null;
}

/** The object's JSON without what nobody asks for: managed fields, and the copy that kubectl keeps of it. */
export function payloadOf(object: Raw): Uint8Array {
  const metadata = object["metadata"];
  if (!isRecord(metadata)) return encode(object);
  const { managedFields: _, annotations, ...rest } = metadata;
  const kept = isRecord(annotations) ? { annotations: withoutLastApplied(annotations) } : {};
  return encode({ ...object, metadata: { ...rest, ...kept } });
}

function withoutLastApplied(annotations: Raw): Raw {
  if (!(LAST_APPLIED in annotations)) return annotations;
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== LAST_APPLIED));
}

function encode(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
