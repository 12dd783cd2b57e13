import type { ResourceType } from "../cluster/types.ts";
import type { Leftover } from "../journal/record.ts";

interface Named {
  readonly type: ResourceType;
  readonly namespace: string | null;
  readonly name: string | null;
  readonly generateName: string | null;
}

/** `Deployment shop/cart`. */
export function titleOf({ type, namespace, name, generateName }: Named): string {
  const place = namespace === null ? "" : `${namespace}/`;
  return `${type.kind} ${place}${name ?? `${generateName ?? "?"}*`}`;
}

/** The command that removes an object by hand. */
export function deleteCommand(type: ResourceType, namespace: string | null, name: string): string {
  const resource = type.group === "" ? type.plural : `${type.plural}.${type.group}`;
  const place = namespace === null ? "" : ` -n ${quoted(namespace)}`;
  return `kubectl delete ${quoted(resource)} ${quoted(name)}${place}`;
}

export function leftover(
  type: ResourceType,
  namespace: string | null,
  name: string,
  uid: string | null,
  why: string,
): Leftover {
  const { apiVersion, kind } = type;
  return { apiVersion, kind, namespace, name, uid, why, command: deleteCommand(type, namespace, name) };
}

function quoted(text: string): string {
  return /^[\w.:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
