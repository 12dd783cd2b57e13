import { readFileSync } from "node:fs";
import { fakeEnvelope } from "@trawler/testkit";
import { expect, test } from "vitest";
import { parseItems, readAnswer } from "../src/answer.ts";

/** Answers of OpenSearch 2.19.6 to bulk requests with this plugin's `filter_path`. */
const recorded = (name: string): string =>
  readFileSync(new URL(`../testdata/${name}.json`, import.meta.url), "utf8").trim();

const answer = (text: string) => ({ status: 200, retryAfter: null, text, complete: true });
const batch = (count: number) => Array.from({ length: count }, (_, index) => fakeEnvelope(index));

test("created, there already, a conflict of mappings and a document without @timestamp", () => {
  const { rejected, retry } = readAnswer(answer(recorded("items")), batch(4), [1, 1, 1, 1]) ?? {};
  expect(retry).toEqual([]);
  expect(rejected).toEqual([
    {
      id: fakeEnvelope(2).id,
      code: "TRAWLER_REFUSED",
      message: expect.stringContaining("400: mapper_parsing_exception: failed to parse field [x] of type [double]"),
    },
    {
      id: fakeEnvelope(3).id,
      code: "TRAWLER_REFUSED",
      message: "400: mapper_parsing_exception: failed to parse",
    },
  ]);
});

test.each([
  ["no-index", "404: index_not_found_exception: no such index [nowhere]"],
  ["blocked", "403: cluster_block_exception: index [.ds-trawler-frames-000001] blocked by"],
])("%s: refused with the cluster's reason", (name, message) => {
  expect(readAnswer(answer(recorded(name)), batch(1), [1])?.rejected).toEqual([
    expect.objectContaining({ message: expect.stringContaining(message) }),
  ]);
});

test.each(["", "[]", "{}", '{"items":{}}', '{"items":[null]}', '{"items":[{"create":{"status":"201"}}]}'])(
  "%j is no bulk answer",
  (text) => expect(parseItems(text)).toBeNull(),
);
