import { nameBy } from "@trawler/format";
import type { Container, Workload } from "@trawler/plugin-api";

const MAX_NAME = 200;

/** Names the folder of a container's links, by a template as those of the emitters. */
export function folderNames(template: string | undefined): (workload: Workload, container: Container) => string {
  const given = template === undefined ? null : nameBy(template);
  const pod = nameBy("{namespace}_{pod}_{container}");
  const bare = nameBy("{container}");
  return (workload, container) => {
    const { kind, labels, status } = workload;
    const resource = { ...workload.resource, ...container.resource };
    const name = (given ?? (kind === "pod" ? pod : bare))({ kind, labels, status, resource });
    return name.split("/").map(safeName).join("/");
  };
}

/** One level of a path: never hidden (such names are ours), never `..`, without what a shell or a pattern reads. */
function safeName(text: string): string {
  const name = text.replace(/[^A-Za-z0-9._-]/g, "_").replace(/^\./, "_");
  return name.slice(0, MAX_NAME) || "_";
}
