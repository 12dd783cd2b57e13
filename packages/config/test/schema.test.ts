import type { Plugin } from "@trawler/plugin-api";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { composeSchema, explainSetting, type JsonSchema } from "../src/index.ts";
import { fakeCatalogue } from "./fakes.ts";

async function whole(): Promise<JsonSchema> {
  const catalogue = fakeCatalogue();
  const plugins: Plugin[] = [];
  for (const { kind, name } of catalogue.known()) plugins.push(await catalogue.load(kind, name));
  return composeSchema(plugins);
}

test("the composed schema is a JSON Schema that accepts and refuses as the reader does", async () => {
  const validate = new Ajv2020({ strict: false }).compile(await whole());
  const accepted =
    "pipelines: { default: { every: 5s, mode: { pod: {} }, crawlers: { cpu: { every: 1m }, memory: }, emitters: { kafka/a: { brokers: ['a:1'] } } } }";
  expect(validate(parse(accepted))).toBe(true);
  for (const refused of [
    "pipelines: { default: { crawlers: { nope: {} } } }",
    "pipelines: { default: { emitters: { kafka: {} } } }",
    "pipelines: { default: { crawlers: { cpu: { evry: 1m } } } }",
    "pipelines: { default: { mode: {} } }",
    "pipelines: { default: { every: 10 } }",
    "htp: {}",
  ]) {
    expect(validate(parse(refused)), refused).toBe(false);
  }
});

test("a setting is explained by its full path, by its end and with any label", async () => {
  const schema = await whole();
  const [brokers] = explainSetting(schema, "pipelines.default.emitters.kafka/main.brokers");
  expect(brokers).toMatchObject({ description: "Brokers to begin with.", required: true, default: null });
  expect(explainSetting(schema, "kafka.brokers")).toMatchObject([{ path: "pipelines.default.emitters.kafka.brokers" }]);
  expect(explainSetting(schema, "http.port")).toMatchObject([
    { path: "http.port", default: "9467", expected: "a whole number from 0 to 65535", secret: false },
  ]);
  expect(explainSetting(schema, "sasl.password")).toMatchObject([{ secret: true }]);
  expect(explainSetting(schema, "every").map(({ path }) => path)).toContain("pipelines.default.crawlers.cpu.every");
  expect(explainSetting(schema, "crawlers.cpu")).toMatchObject([
    { description: "Reads cpu.", keys: expect.arrayContaining(["labels", "every"]) },
  ]);
  expect(explainSetting(schema, "nothing.at.all")).toEqual([]);
});
