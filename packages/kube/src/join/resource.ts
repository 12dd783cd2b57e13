import type { Resource } from "@trawler/plugin-api";

/** An image reference as the user wrote it, in its parts. */
export interface ImageName {
  /** With its registry, without tag and digest. */
  readonly name: string;
  readonly tag: string | null;
  readonly digest: string | null;
}

export function parseImage(image: string): ImageName {
  const at = image.indexOf("@");
  const digest = at === -1 ? null : image.slice(at + 1);
  const rest = at === -1 ? image : image.slice(0, at);
  const colon = rest.lastIndexOf(":");
  // A colon before a slash belongs to the registry's port.
  const tagged = colon > rest.lastIndexOf("/");
  return {
    name: tagged ? rest.slice(0, colon) : rest,
    tag: tagged && colon + 1 < rest.length ? rest.slice(colon + 1) : null,
    digest: digest === "" ? null : digest,
  };
}

/** Attributes of one container. */
export function containerResource(
  name: string,
  id: string | null,
  runtimeName: string | null,
  image: string,
  declaredId: string | null,
): Resource {
  const parsed = parseImage(image);
  return {
    "k8s.container.name": name,
    ...(id === null ? {} : { "container.id": id }),
    ...(runtimeName === null ? {} : { "container.runtime.name": runtimeName }),
    ...(parsed.name === "" ? {} : { "container.image.name": parsed.name }),
    ...(parsed.tag === null ? {} : { "container.image.tags": [parsed.tag] }),
    // The API server's record of another container than the one that runs.
    ...(declaredId === null ? {} : { "trawler.container.declared.id": declaredId }),
  };
}

const OWNER = /^k8s\.(?:replicaset|deployment|statefulset|daemonset|job|cronjob)\.(?:name|uid)$/;

/** The attributes of owners among others. */
export function ownersIn(resource: Resource): Resource {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => OWNER.test(name)));
}
