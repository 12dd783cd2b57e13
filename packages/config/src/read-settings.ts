import { dirname, resolve } from "node:path";
import type * as z from "zod";
import { Checker } from "./check.ts";
import { toJsonSchema } from "./compose.ts";
import { faultsError } from "./fault.ts";
import { applyOverrides } from "./override.ts";
import { openDocument, type ReadOptions, readTextFile } from "./read.ts";
import { substitute } from "./substitute.ts";

/**
 * Reads the file of a command that has no plugins, by one schema, with the same substitutions, overrides and messages
 * as the agent's. Throws one TRAWLER_CONFIG_INVALID that lists every fault.
 */
export async function readSettings<T>(schema: z.ZodType<T>, options: Omit<ReadOptions, "catalogue">): Promise<T> {
  const document = openDocument(options);
  if (document.faults.length > 0) throw faultsError(document.faults);
  applyOverrides(document, options.overrides ?? []);
  const folder = options.file === null ? process.cwd() : dirname(resolve(options.file));
  const readFile = options.readFile ?? readTextFile;
  const substituted = substitute(document, {
    env: options.env,
    readFile: (path, maxBytes) => readFile(resolve(folder, path), maxBytes),
  });
  const checker = new Checker(document, toJsonSchema(schema), substituted);
  const value = checker.shape();
  const result = await schema["~standard"].validate(value);
  if (result.issues) checker.issues(result.issues, [], value);
  if (result.issues || document.faults.length > 0) throw faultsError(document.faults);
  return result.value;
}
