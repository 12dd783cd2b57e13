import { type Container, glob, type StringMap, type Workload } from "@trawler/plugin-api";
import type { Config } from "./config.ts";

/**
 * Leaves out what the configuration does not want: null = the whole pod, else the workload without the containers that
 * are left out. A pod that opts itself out by annotation is still reported: the host heeds it and can tell why.
 */
export type Select = (workload: Workload) => Workload | null;

export function selector(config: Pick<Config, "include" | "exclude" | "sandboxImages">): Select {
  const { include, exclude } = config;
  const included = { namespaces: names(include.namespaces), containers: names(include.containers) };
  const excluded = { namespaces: names(exclude.namespaces), containers: names(exclude.containers) };
  const wanted = { labels: pairs(include.labels), annotations: pairs(include.annotations) };
  const unwanted = { labels: pairs(exclude.labels), annotations: pairs(exclude.annotations) };
  const sandboxes = new Set(config.sandboxImages);

  const keepsPod = ({ labels, annotations, resource }: Workload): boolean => {
    const namespace = String(resource["k8s.namespace.name"] ?? "");
    if (included.namespaces !== null && !included.namespaces(namespace)) return false;
    if (excluded.namespaces?.(namespace) === true) return false;
    const all = [...wanted.labels.map((pair) => pair(labels)), ...wanted.annotations.map((pair) => pair(annotations))];
    if (all.includes(false)) return false;
    return ![
      ...unwanted.labels.map((pair) => pair(labels)),
      ...unwanted.annotations.map((pair) => pair(annotations)),
    ].includes(true);
  };
  const keepsContainer = ({ name, image }: Container): boolean =>
    !sandboxes.has(image) && excluded.containers?.(name) !== true && included.containers?.(name) !== false;

  return (workload) => {
    if (!keepsPod(workload)) return null;
    const containers = workload.containers.filter(keepsContainer);
    return containers.length === workload.containers.length ? workload : { ...workload, containers };
  };
}

/** A test of one name against globs; null where there are none. */
function names(globs: readonly string[]): ((name: string) => boolean) | null {
  if (globs.length === 0) return null;
  return (name) => globs.some((pattern) => glob(pattern, name));
}

function pairs(globs: Readonly<Record<string, string>>): readonly ((map: StringMap) => boolean)[] {
  return Object.entries(globs).map(([key, pattern]) => (map) => {
    const value = map[key];
    return value !== undefined && glob(pattern, value);
  });
}
