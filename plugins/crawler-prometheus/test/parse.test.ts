import { readFileSync } from "node:fs";
import { parseExposition } from "@trawler/application";
import { describe, expect, test } from "vitest";

const all = (): boolean => true;
const etcd = readFileSync(new URL("../testdata/etcd/page.txt", import.meta.url), "utf8");

describe("the text format", () => {
  test("a real page of etcd: every line that is no comment is a sample", () => {
    const lines = etcd.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const { samples, invalid, truncated } = parseExposition(etcd, all, 10_000);
    expect({ invalid, truncated }).toEqual({ invalid: 0, truncated: false });
    expect(samples.length).toBe(lines.filter((line) => !/ (NaN|[+-]Inf)$/.test(line)).length);
    expect(samples.find(({ name }) => name === "etcd_server_has_leader")).toEqual({
      name: "etcd_server_has_leader",
      type: "gauge",
      labels: [],
      value: 1,
    });
    expect(samples.find(({ name }) => name.endsWith("_bucket"))?.type).toBe("histogram");
  });

  test.each([
    ['a{x="1",y="2"} 3', ['x="1"', 'y="2"'], 3],
    ['a{y="2",x="1",} 3 1700000000000', ['x="1"', 'y="2"'], 3],
    ['a{x="say \\"hi\\" \\\\ \\n, }"} 1e-3', ['x="say \\"hi\\" \\\\ \\n, }"'], 0.001],
    ["a{} .5", [], 0.5],
    ['a_total 7 # {trace_id="abc"} 1.0', [], 7],
  ])("%s", (line, labels, value) => {
    expect(parseExposition(line, all, 10).samples).toEqual([expect.objectContaining({ labels, value })]);
  });

  test.each([
    "a",
    "a b",
    "1a 2",
    'a{x="1" 2',
    "a{x=1} 2",
    'a{x="1} 2',
    "a 0x10",
    "<html>",
    `a{${'x="1",'.repeat(40)}} 1`,
  ])("%s is no sample, and is counted", (line) => {
    expect(parseExposition(line, all, 10)).toEqual({ samples: [], truncated: false, invalid: 1 });
  });

  test("what is not finite is left out: a frame has no NaN", () => {
    expect(parseExposition("a NaN\nb +Inf\nc -Inf\nd 1\n", all, 10).samples.map(({ name }) => name)).toEqual(["d"]);
  });

  test("the number of series is bounded, and a page of one endless line costs little", () => {
    const page = Array.from({ length: 1_000 }, (_, index) => `a{i="${index}"} 1`).join("\n");
    expect(parseExposition(page, all, 20)).toMatchObject({ truncated: true });
    expect(parseExposition(page, all, 20).samples).toHaveLength(20);
    expect(parseExposition(`a{${"x".repeat(4_000_000)}`, all, 20)).toMatchObject({ invalid: 1 });
    expect(parseExposition(`a{x="${'\\"'.repeat(2_000)}`, all, 20)).toMatchObject({ invalid: 1 });
  });
});
