/**
 * `npm run generate`: writes the published JSON Schemas from the definitions in code; with `--check` it writes nothing
 * and fails where a file on disk differs.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type CrawlerPlugin, frameJsonSchema } from "@trawler/plugin-api";

const check = process.argv.includes("--check");
const files = new Map<string, unknown>([["schema/frame-v1.json", frameJsonSchema()]]);

for (const name of (await readdir("plugins")).sort()) {
  if (!name.startsWith("crawler-")) continue;
  const module = (await import(`@trawler/${name}`)) as { default: CrawlerPlugin };
  for (const [type, schema] of Object.entries(module.default.features)) {
    const path = `schema/features/${type}.json`;
    if (files.has(path)) throw new Error(`${name}: feature ${type} is declared by another crawler too`);
    const body = schema["~standard"].jsonSchema.output({ target: "draft-2020-12" });
    files.set(path, { $schema: "https://json-schema.org/draft/2020-12/schema", title: type, ...body });
  }
}

let different = 0;
for (const [path, value] of files) {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  const found = await readFile(path, "utf8").catch(() => "");
  if (found === text) continue;
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
