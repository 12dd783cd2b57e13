/**
 * `npm run generate`: writes the published JSON Schemas, the tables of the plugins' READMEs and that of the chart's from
 * the definitions in code and the chart's schema; with `--check` it writes nothing and fails where a file on disk differs.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { frameJsonSchema, type Plugin } from "@trawler/plugin-api";
import { chartReadme } from "./chart-readme.ts";
import { pluginReadme } from "./plugin-readme.ts";

const check = process.argv.includes("--check");
const read = (path: string): Promise<string | null> => readFile(path, "utf8").catch(() => null);
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const chart = "deploy/chart/trawler";
const files = new Map<string, string>([
  ["schema/frame-v1.json", json(frameJsonSchema())],
  [`${chart}/README.md`, chartReadme(JSON.parse(await readFile(`${chart}/values.schema.json`, "utf8")))],
]);

for (const name of (await readdir("plugins")).sort()) {
  const { default: plugin } = (await import(`@trawler/${name}`)) as { readonly default: Plugin };
  const readme = `plugins/${name}/README.md`;
  files.set(readme, pluginReadme(`@trawler/${name}`, plugin, await read(readme)));
  if (plugin.kind !== "crawler") continue;
  for (const [type, schema] of Object.entries(plugin.features)) {
    const path = `schema/features/${type}.json`;
    if (files.has(path)) throw new Error(`${name}: feature ${type} is declared by another crawler too`);
    const body = schema["~standard"].jsonSchema.output({ target: "draft-2020-12" });
    files.set(path, json({ $schema: "https://json-schema.org/draft/2020-12/schema", title: type, ...body }));
  }
}

let different = 0;
for (const [path, text] of files) {
  if ((await read(path)) === text) continue;
  different++;
  if (check) console.error(`${path} is not what the code says: run npm run generate`);
  else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    console.log(`wrote ${path}`);
  }
}
console.log(`${files.size} generated files, ${different} ${check ? "different" : "written"}`);
process.exitCode = check && different > 0 ? 1 : 0;
