import { readFileSync } from "node:fs";
import { csv, type Document, graphite, jsonLines, logstash, type Row, type Value } from "@trawler/format";
import { describe, expect, test } from "vitest";

// Output of the forerunner for one input of our own, and where it was wrong.
const file = (name: string): string => readFileSync(new URL(`../testdata/${name}`, import.meta.url), "utf8");
const input = JSON.parse(file("input.json")) as {
  readonly metadata: Readonly<Record<string, string>>;
  readonly features: readonly (readonly [string, Row["value"], string])[];
};
const document: Document = {
  namespace: "10.0.0.1/web",
  timestamp: "2017-02-07T13:20:15-0500",
  metadata: input.metadata,
  rows: input.features.map(([key, value, type]) => ({ type, key, value })),
};
const lines = (text: string): readonly string[] => text.trimEnd().split("\n");
const dummy: Document = {
  namespace: "namespace777",
  timestamp: "2017-02-07T13:20:15-0500",
  metadata: { namespace: "namespace777" },
  rows: [
    {
      type: "dummy_feature",
      key: "dummy_feature",
      value: { test: "bla", test2: 12345, test3: 12345.0, test4: 12345.0 },
    },
  ],
};

describe("parity F8: the golden output", () => {
  test("csv, member by member", () => {
    const columns = (text: string) =>
      lines(text).map((line) => {
        const [type, key = "", value = ""] = line.split("\t");
        return [type, JSON.parse(key), JSON.parse(value)] as const;
      });
    expect(columns(csv(document))).toEqual(columns(file("csv.txt")));
    expect(csv(document).split("\n")[1]).toBe('memory\t"memory"\t{"memory_used":12345}');
  });

  test("json lines, with the key that the forerunner lost", () => {
    const ours = lines(jsonLines(document)).map((line) => JSON.parse(line) as Readonly<Record<string, Value>>);
    const golden = lines(file("json.txt")).map((line) => JSON.parse(line) as Readonly<Record<string, Value>>);
    const keys = [undefined, ...document.rows.map(({ key }) => key)];
    expect(ours).toEqual(golden.map((one, index) => (index === 0 ? one : { ...one, feature_key: keys[index] })));
  });

  test("logstash, member by member", () => {
    expect(JSON.parse(logstash(document))).toEqual(JSON.parse(file("logstash.txt")));
    expect(lines(logstash(document))).toHaveLength(1);
  });

  test("parity F9: graphite, with the time zone that the forerunner ignored", () => {
    const golden = lines(file("graphite.txt")).map((line) => line.replace(/ \d+$/, " 1486491615"));
    expect([...lines(graphite(document, { dots: true }))].sort()).toEqual(golden.sort());
  });
});

describe("parity F4, F5, F6: one feature", () => {
  test("parity F4: graphite has a line for each number and none for texts and metadata", () => {
    expect(lines(graphite(dummy))).toEqual([
      "namespace777.dummy-feature.test2 12345.000000 1486491615",
      "namespace777.dummy-feature.test3 12345.000000 1486491615",
      "namespace777.dummy-feature.test4 12345.000000 1486491615",
    ]);
  });

  test("parity F5: json lines", () => {
    const [, feature = ""] = lines(jsonLines(dummy));
    expect(lines(jsonLines(dummy))).toHaveLength(2);
    expect(JSON.parse(feature)).toMatchObject({
      namespace: "namespace777",
      feature_type: "dummy_feature",
      test: "bla",
    });
  });

  test("parity F6: logstash", () => {
    expect(Object.keys(JSON.parse(logstash(dummy)) as object)).toEqual(["dummy_feature", "metadata"]);
  });
});

test("equal keys of one type do not overwrite each other, as they did in the forerunner", () => {
  const twice: Document = { ...dummy, rows: [...dummy.rows, ...dummy.rows] };
  expect(JSON.parse(logstash(twice))).toMatchObject({
    dummy_feature: { dummy_feature: { test: "bla" }, "dummy_feature#2": { test: "bla" } },
  });
});

test("a hostile name makes no line, no column and no word of its own", () => {
  const value = { "a\nb 1 1": 1, feature_type: "forged", __proto__: 2, text: "NaN" };
  const hostile: Document = { ...dummy, namespace: "a b\n/c.d", rows: [{ type: "x\ty", key: "k\r\nk k", value }] };
  expect(graphite(hostile)).toBe("a_b_.c_d.k__k_k.a_b_1_1 1.000000 1486491615\n");
  expect(lines(csv(hostile)).map((line) => line.split("\t").length)).toEqual([3, 3]);
  expect(JSON.parse(lines(jsonLines(hostile))[1] ?? "")).toMatchObject({
    feature_type: "x\ty",
    value_feature_type: "forged",
  });
});

test("a number that is none in Graphite is left out", () => {
  const value = { a: Number.NaN, b: "0x10", c: "", d: "Infinity", e: "1e3", f: null, g: [true, "2.5"] };
  const odd: Document = { ...dummy, rows: [{ type: "x", key: "x", value }] };
  expect(lines(graphite(odd)).map((line) => line.split(" ").slice(0, 2))).toEqual([
    ["namespace777.x.e", "1000.000000"],
    ["namespace777.x.g[0]", "1.000000"],
    ["namespace777.x.g[1]", "2.500000"],
  ]);
});
