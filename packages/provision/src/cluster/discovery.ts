import { listOf, recordOf, textOf } from "./read.ts";
import type { ResourceType } from "./types.ts";

export const NAMESPACE_TYPE: ResourceType = {
  apiVersion: "v1",
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};

export function splitApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf("/");
  if (slash < 0) return { group: "", version: apiVersion };
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

export function groupPath(apiVersion: string): string {
  const { group, version } = splitApiVersion(apiVersion);
  const segment = encodeURIComponent(version);
  return group === "" ? `/api/${segment}` : `/apis/${encodeURIComponent(group)}/${segment}`;
}

/** The kinds of an APIResourceList; subresources are left out. */
export function parseResourceList(apiVersion: string, body: unknown): readonly (ResourceType & { verbs: string[] })[] {
  return listOf(recordOf(body)["resources"]).flatMap((resource) => {
    const plural = textOf(resource["name"]) ?? "";
    const kind = textOf(resource["kind"]) ?? "";
    if (plural === "" || plural.includes("/") || kind === "") return [];
    const listed = resource["verbs"];
    const verbs = Array.isArray(listed) ? listed.filter((verb) => typeof verb === "string") : [];
    return [
      { apiVersion, ...splitApiVersion(apiVersion), kind, plural, namespaced: resource["namespaced"] === true, verbs },
    ];
  });
}

/** The kinds that a CustomResourceDefinition in the set will bring: they are not discovered, they are defined. */
export function definedTypes(definition: unknown): readonly ResourceType[] {
  const spec = recordOf(recordOf(definition)["spec"]);
  const names = recordOf(spec["names"]);
  const group = textOf(spec["group"]) ?? "";
  const kind = textOf(names["kind"]) ?? "";
  const plural = textOf(names["plural"]) ?? "";
  return listOf(spec["versions"]).flatMap((entry) => {
    const version = textOf(entry["name"]) ?? "";
    if (entry["served"] !== true || version === "" || kind === "" || plural === "") return [];
    return [
      { apiVersion: `${group}/${version}`, group, version, kind, plural, namespaced: spec["scope"] === "Namespaced" },
    ];
  });
}
