import { parseImage, type Resource } from "@trawler/plugin-api";

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
    ...(parsed.name === null ? {} : { "container.image.name": parsed.name }),
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
