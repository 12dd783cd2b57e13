import type { Template } from "../template/types.ts";
import type { Use } from "../template/uses.ts";
import { longestName } from "./place.ts";

/** What an answer must be so that all names it becomes part of are DNS names. */
export interface NameRule {
  readonly pattern: string;
  readonly maxLength: number;
}

/** The rule of a parameter that is used in names of objects: the strictest of all its uses. */
export function nameRule(template: Template, uses: readonly Use[]): NameRule {
  let maxLength = 253;
  let dots = true;
  let starts = false;
  let ends = false;
  for (const { name, path, text } of uses) {
    const [, index] = path;
    const limit = longestName(typeof index === "number" ? template.objects[index]?.["kind"] : undefined);
    const reference = `\${${name}}`;
    const parts = text.split(reference);
    // Other references in the text take a character at least.
    const rest = parts.join("").replace(/\$\{[a-zA-Z0-9_]+\}/g, "x").length;
    const times = Math.max(1, parts.length - 1);
    maxLength = Math.min(maxLength, Math.max(1, Math.floor((limit - (text.startsWith("${{") ? 0 : rest)) / times)));
    dots &&= limit === 253;
    starts ||= text.startsWith("${{") || text.startsWith(reference);
    ends ||= text.startsWith("${{") || text.endsWith(reference);
  }
  const inner = dots ? "[-.a-z0-9]" : "[-a-z0-9]";
  const edge = "[a-z0-9]";
  if (starts && ends) return { pattern: `^${edge}(${inner}*${edge})?$`, maxLength };
  if (starts) return { pattern: `^${edge}${inner}*$`, maxLength };
  return { pattern: ends ? `^${inner}*${edge}$` : `^${inner}+$`, maxLength };
}
