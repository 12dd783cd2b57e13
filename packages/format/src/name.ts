import type { Frame } from "@trawler/plugin-api";

type Named = Pick<Frame, "kind" | "resource" | "labels" | "status">;

/** Gives the name of a frame's subject: parts joined by `/`. */
export type NameOf = (frame: Named) => string;

const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  cluster: ["k8s.cluster.name"],
  node: ["k8s.node.name", "host.name"],
  namespace: ["k8s.namespace.name"],
  pod: ["k8s.pod.name"],
  container: ["k8s.container.name", "container.name"],
  id: ["k8s.pod.uid", "container.id", "host.id"],
};
const WORDS = ["name", "kind", "ip", ...Object.keys(ATTRIBUTES)];
const KEYED = "(?:label|attribute):[^\\s{}]{1,256}";
const PLACEHOLDER = new RegExp(`\\{(${WORDS.join("|")}|${KEYED})\\}`);

const listed = (quote: string): string =>
  [...WORDS.map((word) => `{${word}}`), "{label:KEY}", "{attribute:KEY}"]
    .map((one) => `${quote}${one}${quote}`)
    .join(" ");

/** A template of names, for settings of emitters. */
export const NAME_TEMPLATE: RegExp = new RegExp(`^(?:[^\\s{}]|${PLACEHOLDER.source.replace("(", "(?:")}){1,256}$`);
export const NAME_HINT: string = `expected a name without blanks; known placeholders: ${listed("")}`;
export const NAME_DESCRIPTION: string = `Name of who a frame is about, in the line formats. \`{name}\` is \`<namespace>/<pod>\`, \`<host>/<container>\` or the host's; placeholders: ${listed("`")}. A part between slashes that comes out empty is left out.`;

/** Names by a template that `NAME_TEMPLATE` allows; the usual one where there is none, or where it comes out empty. */
export function nameBy(template: string | undefined): NameOf {
  if (template === undefined) return namespaceOf;
  const pieces = template.split(PLACEHOLDER);
  return (frame) => {
    const text = pieces.map((piece, index) => (index % 2 === 0 ? piece : textOf(piece, frame))).join("");
    const parts = text.split("/").filter((part) => part !== "");
    return parts.length === 0 ? namespaceOf(frame) : parts.join("/");
  };
}

/** `<namespace>/<pod>`, `<host>/<container>`, or the host's name; of a container without a name its short id. */
export function namespaceOf({ kind, resource }: Named): string {
  const names =
    kind === "pod"
      ? [resource["k8s.namespace.name"], resource["k8s.pod.name"]]
      : kind === "container"
        ? [resource["host.name"], resource["container.name"] || shortId(resource["container.id"])]
        : [resource["host.name"]];
  return names.filter((name) => typeof name === "string" && name !== "").join("/") || "unknown";
}

/** As runtimes show ids. */
const shortId = (id: unknown): string => (typeof id === "string" ? id.slice(0, 12) : "");

/** Empty where the frame does not have it. A slash in it is no level of the name. */
function textOf(placeholder: string, frame: Named): string {
  if (placeholder === "name") return namespaceOf(frame);
  const value = find(placeholder, frame);
  return value === undefined || value === null ? "" : String(value).replaceAll("/", "_");
}

function find(placeholder: string, { kind, resource, labels, status }: Named): unknown {
  if (placeholder === "kind") return kind;
  if (placeholder === "ip") return status?.ips[0];
  const [, of, key = ""] = /^(label|attribute):(.*)$/.exec(placeholder) ?? [];
  if (of === "label") return Object.hasOwn(labels, key) ? labels[key] : undefined;
  const keys = of === "attribute" ? [key] : (ATTRIBUTES[placeholder] ?? []);
  return keys.map((name) => (Object.hasOwn(resource, name) ? resource[name] : undefined)).find((one) => one != null);
}
