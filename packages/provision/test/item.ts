import type { ResourceType } from "../src/cluster/types.ts";
import type { Item } from "../src/journal/record.ts";

export function typeOf(kind: string, plural: string, group = "", namespaced = true): ResourceType {
  return { apiVersion: group === "" ? "v1" : `${group}/v1`, group, version: "v1", kind, plural, namespaced };
}

export function itemOf(change: Partial<Item> & { readonly index: number }): Item {
  return {
    path: "",
    type: typeOf("ConfigMap", "configmaps"),
    deferred: false,
    namespace: "shop",
    name: `object-${change.index}`,
    generateName: null,
    wave: 2,
    status: "planned",
    uid: null,
    resourceVersion: null,
    ready: null,
    error: null,
    attempts: 0,
    uncertain: false,
    startedAt: null,
    endedAt: null,
    ...change,
  };
}
