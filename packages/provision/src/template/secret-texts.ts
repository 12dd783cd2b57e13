import { isMap, type JsonMap } from "../json.ts";
import type { ProcessedTemplate } from "./types.ts";

/** Most of them: each text that is shown is searched for all. */
export const MOST_SECRETS = 20_000;

/** Every text that must not be shown: secret parameters, and the data of Secrets (as written and decoded). */
export function secretTexts({
  parameters,
  objects,
}: Pick<ProcessedTemplate, "parameters" | "objects">): readonly string[] {
  const values = parameters.filter(({ secret }) => secret).map(({ value }) => value);
  const data = objects.filter(({ kind }) => kind === "Secret").flatMap(({ body }) => dataOf(body));
  const all = [...values, ...data];
  // Answers of a server are kept as one line: so a secret with line breaks is looked for in that form too.
  const lines = all.map((text) => text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").trim());
  return [...new Set([...all, ...lines])].filter((text) => text !== "");
}

function dataOf(body: JsonMap): readonly string[] {
  const plain = textsOf(body["stringData"]);
  const encoded = textsOf(body["data"]);
  return [...plain, ...encoded, ...encoded.map((text) => Buffer.from(text, "base64").toString("utf8"))];
}

function textsOf(value: JsonMap[string] | undefined): readonly string[] {
  return isMap(value) ? Object.values(value).filter((text) => typeof text === "string") : [];
}
