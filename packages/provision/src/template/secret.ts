import { isMap } from "../json.ts";
import type { Template } from "./types.ts";
import type { Use } from "./uses.ts";

const SECRET_NAME = /pass|pwd|secret|token|api_?key|private_?key|credential/i;

/**
 * Names of the parameters that must not be shown: those that are generated, whose name looks secret, or whose every
 * use lies in the data of a Secret. One that names an object is none, since names are shown everywhere.
 */
export function secretParameters(template: Template, uses: readonly Use[]): ReadonlySet<string> {
  const byName = Map.groupBy(uses, ({ name }) => name);
  const secret = ({ name, generate }: Template["parameters"][number]): boolean => {
    const own = byName.get(name) ?? [];
    if (own.some(namesObject)) return false;
    return (
      generate !== null || SECRET_NAME.test(name) || (own.length > 0 && own.every((use) => inSecret(template, use)))
    );
  };
  return new Set(template.parameters.filter(secret).map(({ name }) => name));
}

/** Whether a name looks secret or the parameter is put into Secrets only: what the form shows as a password. */
export function looksSecret(name: string, template: Template, uses: readonly Use[]): boolean {
  if (uses.some(namesObject)) return false;
  return SECRET_NAME.test(name) || (uses.length > 0 && uses.every((use) => inSecret(template, use)));
}

function namesObject({ path, key }: Use): boolean {
  if (key || path[0] !== "objects") return false;
  return path.at(-2) === "metadata" && (path.at(-1) === "name" || path.at(-1) === "generateName");
}

/** In `data` or `stringData` of a Secret. */
function inSecret(template: Template, { path }: Use): boolean {
  const [first, index, part] = path;
  if (first !== "objects" || typeof index !== "number" || (part !== "data" && part !== "stringData")) return false;
  const object = template.objects[index];
  return isMap(object) && object["kind"] === "Secret";
}
