import { formatFault } from "./faults.ts";
import { evaluate } from "./process.ts";
import { readTemplate } from "./read.ts";
import type { Mode, ProcessOptions, TemplateFault } from "./types.ts";

/**
 * What the two modes make of one template differently, one line each: faults that only one has, generators whose sets
 * differ, objects that come out otherwise. Empty where they agree. Draws are alike in both, and no value is told.
 */
export function compareModes(text: string, options: Omit<ProcessOptions, "mode" | "random">): readonly string[] {
  const file = options.file ?? "template";
  const run = (mode: Mode) => {
    const document = readTemplate(text, file, mode);
    return { template: document.template, ...evaluate(document, { ...options, mode, random: () => 0 }) };
  };
  const [strict, compat] = [run("strict"), run("compat")];
  const only = (mode: string, these: readonly TemplateFault[], others: readonly TemplateFault[]): readonly string[] => {
    const known = new Set(others.map(({ code, path, severity }) => JSON.stringify([code, path, severity])));
    return these
      .filter(({ code, path, severity }) => !known.has(JSON.stringify([code, path, severity])))
      .map((fault) => `${mode} mode only: ${formatFault(fault)}`);
  };
  const generators = strict.template.parameters
    .filter(({ generate, from }) => generate === "expression" && /\[[^\]]*(-|\\a)[^\]]*\]\{/.test(from ?? ""))
    .map(({ name }) => `${name}: in compat mode ranges lack their last character, and \\a has digits`);
  const count = Math.max(strict.objects.length, compat.objects.length);
  const objects = Array.from({ length: count }, (_, index) => index)
    .filter((index) => strict.objects[index] && compat.objects[index])
    .filter((index) => JSON.stringify(strict.objects[index]?.body) !== JSON.stringify(compat.objects[index]?.body))
    .map(
      (index) =>
        `${strict.objects[index]?.path}: ${strict.objects[index]?.kind} comes out differently (numbers, generated values, or references in values)`,
    );
  return [
    ...only("strict", strict.faults, compat.faults),
    ...only("compat", compat.faults, strict.faults),
    ...generators,
    ...(strict.objects.length !== compat.objects.length
      ? [
          `strict mode makes ${strict.objects.length} objects, compat mode ${compat.objects.length}: items of lists become objects`,
        ]
      : []),
    ...objects,
  ];
}
