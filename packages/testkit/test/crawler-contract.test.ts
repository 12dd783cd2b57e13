import { defineCrawler, unsupported } from "@trawler/plugin-api";
import { crawlerContract } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import * as z from "zod";

const testdata = new URL("../testdata/hostname/", import.meta.url);

const hostname = defineCrawler({
  name: "hostname",
  description: "Reads the host name that a target sees.",
  config: z.strictObject({ path: z.string().default("/etc/hostname").describe("File that holds the name.") }),
  scope: "member",
  needs: ["fs", "cgroup"],
  features: { hostname: z.strictObject({ name: z.string(), time: z.number().nullable().meta({ "x-unit": "s" }) }) },
  create: ({ path }) => ({
    async *crawl({ fs, cgroup }, { signal }) {
      const { time } = await cgroup.cpu({ signal });
      const text = await fs.readText(path, { signal });
      if (text.trim() === "") throw unsupported(`${path} is empty`);
      yield { type: "hostname", key: "hostname", value: { name: text.trim(), time } };
    },
  }),
});

describe("a crawler that keeps the contract", () => {
  for (const { name, run } of crawlerContract(hostname, { testdata })) test(name, run);
});

/** Runs the suite on a crawler that breaks it and names the cases that fail. */
async function failing(plugin: Parameters<typeof crawlerContract>[0]): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const { name, run } of crawlerContract(plugin, { testdata })) {
    await run().catch(() => failed.push(name));
  }
  return failed;
}

describe("the suite finds", () => {
  test("a number without a unit", async () => {
    const features = { hostname: z.strictObject({ name: z.string(), time: z.number().nullable() }) };
    expect(await failing({ ...hostname, features })).toEqual([
      "declares a flat feature schema with a unit for every number",
    ]);
  });

  test("a setting without a description and unknown settings taken", async () => {
    const config = z.object({ path: z.string().default("/etc/hostname") });
    expect(await failing({ ...hostname, config })).toEqual(["describes every setting and refuses unknown ones"]);
  });

  test("a capability that is declared and never used", async () => {
    expect(await failing({ ...hostname, needs: ["fs", "cgroup", "net"] })).toEqual([
      "matches every golden case, twice alike, with the capabilities that it declares",
    ]);
  });

  test("errors without a code", async () => {
    const create: typeof hostname.create = () => ({
      async *crawl({ fs, cgroup }, { signal }) {
        const { time } = await cgroup.cpu({ signal });
        const text = await fs.readText("/etc/hostname", { signal });
        if (text === "") throw new Error("empty");
        yield { type: "hostname", key: "hostname", value: { name: text.trim(), time } };
      },
    });
    expect(await failing({ ...hostname, create })).toEqual(["meets a target that is empty with coded errors only"]);
  });
});
