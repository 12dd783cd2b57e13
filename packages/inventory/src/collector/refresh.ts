import { type ApiClient, apiStatus, isRecord, objectMeta } from "@trawler/kube";
import { TrawlerError } from "@trawler/plugin-api";
import type { ObjectEvent } from "../events.ts";
import { type KindSpec, objectPath } from "./kinds.ts";
import { payloadOf } from "./object.ts";

/** One object, by its name. */
export interface RefreshTarget {
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}

/**
 * Reads one object with a single GET, as an event that carries it. It touches nothing else. Errors: TRAWLER_UNSUPPORTED
 * where the object or the kind is not there, and what the client throws.
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
  const path = objectPath(spec, namespace, name);
  if (path === null) throw new TrawlerError("TRAWLER_UNSUPPORTED", `${label} cannot be a name`);
  const body = await client.get({ what: `get ${spec.stream}`, path, signal, timeout: 10_000 }).catch((error) => {
    if (apiStatus(error) !== 404) throw error;
    throw new TrawlerError("TRAWLER_UNSUPPORTED", `the API server has no ${label}; its record stays as it is`);
  });
  const meta = isRecord(body) ? objectMeta(body) : null;
  if (!isRecord(body) || meta === null) {
    throw new TrawlerError("TRAWLER_UNAVAILABLE", `get ${spec.stream}: the answer is no object`);
  }
  return {
    stream: spec.stream,
    receivedAt: stamp.now(),
    epoch: stamp.epoch,
    type: "refreshed",
    kind,
    uid: meta.uid,
    resourceVersion: meta.resourceVersion,
    payload: payloadOf(body),
  };
}
