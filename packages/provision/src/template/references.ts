import type { FaultList } from "./faults.ts";
import { nearest } from "./nearest.ts";
import type { Mode, Template } from "./types.ts";
import type { Use } from "./uses.ts";

/** Names that are used and not declared, declared and not used, and typed references that stay as they are. */
export function checkReferences(template: Template, uses: readonly Use[], mode: Mode, faults: FaultList): void {
  const names = template.parameters.map(({ name }) => name);
  const known = new Set(names);
  const used = new Set(uses.map(({ name }) => name));
  const say = mode === "strict" ? "error" : "warning";
  const told = new Set<string>();
  for (const { name, path, typed, partial } of uses) {
    if (partial) {
      if (known.has(name))
        faults.warning("PARAMETER_UNUSED", path, `\${{${name}}} inside longer text stays as it is; write \${${name}}`);
      continue;
    }
    const reference = typed ? `\${{${name}}}` : `\${${name}}`;
    const once = JSON.stringify([path, reference]);
    if (known.has(name) || told.has(once)) continue;
    told.add(once);
    const near = nearest(name, names);
    const mend =
      near === null ? "declare the parameter, or use --mode compat to leave it as it is" : `did you mean ${near}?`;
    faults[say]("REFERENCE_UNKNOWN", path, `${reference.slice(0, 100)} is no parameter of the template; ${mend}`);
  }
  for (const [index, { name }] of template.parameters.entries()) {
    if (!used.has(name))
      faults.warning("PARAMETER_UNUSED", ["parameters", index], `${name} is never used; use it or remove it`);
  }
}
