import { type ApiClient, isRecord, objectMeta } from "@trawler/kube";
import { TrawlerError } from "@trawler/plugin-api";
import type { ObjectEvent } from "../events.ts";
import { collectionPath, type KindSpec } from "./kinds.ts";
import { payloadOf } from "./object.ts";

/** One object, by its name. */
export interface RefreshTarget {
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}

/**
 * Reads one object with a single GET, as an event that carries it: a list of the one that has the name, so that the
 * role needs no further verb. It touches nothing else. Errors: TRAWLER_UNSUPPORTED where the object or the kind is not
 * there, and what the client throws.
 */
export async function readObjectEvent(
  client: ApiClient,
  spec: KindSpec,
  target: RefreshTarget,
  stamp: { readonly epoch: number; readonly now: () => number },
  signal: AbortSignal,
): Promise<ObjectEvent> {
  const { kind, namespace, name } = target;
  const label = `${kind}/${namespace === null ? "" : `${namespace}/`}${name}`;
  const path = collectionPath(spec, namespace, name);
  if (path === null) throw new TrawlerError("TRAWLER_UNSUPPORTED", `${label} cannot be a name`);
  const query = { fieldSelector: `metadata.name=${name}`, limit: "1" };
  const body = await client.get({ what: `get ${label}`, path, query, signal, timeout: 10_000 });
  const items = isRecord(body) && Array.isArray(body["items"]) ? body["items"] : [];
  const object: unknown = items[0];
  const meta = isRecord(object) ? objectMeta(object) : null;
  if (!isRecord(object) || meta === null) {
    throw new TrawlerError("TRAWLER_UNSUPPORTED", `the API server has no ${label}; its record stays as it is`);
  }
  return {
    stream: spec.stream,
    receivedAt: stamp.now(),
    epoch: stamp.epoch,
    type: "refreshed",
    kind,
    uid: meta.uid,
    resourceVersion: meta.resourceVersion,
    payload: payloadOf({ kind, ...object }),
  };
}
