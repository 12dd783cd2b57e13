import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** JSON of a file, or `otherwise` where there is no such file. */
export async function readJson(path: string, otherwise: unknown): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`${path}: ${error.message}`, { cause: error });
    return otherwise;
  }
}

/** Names of the cases below a folder, sorted. */
export async function caseNames(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** Compares with `expected.json` of a case; UPDATE_GOLDEN=1 rewrites it first. */
export async function checkGolden(folder: string, actual: unknown): Promise<void> {
  const path = join(folder, "expected.json");
  const text = `${JSON.stringify(actual, (_, value) => (typeof value === "bigint" ? `${value}n` : value), 2)}\n`;
  if (process.env["UPDATE_GOLDEN"]) await writeFile(path, text);
  assert.deepEqual(JSON.parse(text), await readJson(path, undefined), `differs from ${path}`);
}
