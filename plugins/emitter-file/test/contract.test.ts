import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emitterContract } from "@trawler/testkit";
import { test } from "vitest";
import file from "../src/index.ts";

const cases = emitterContract(file, {
  config: { path: "/var/log/frames.jsonl" },
  async world() {
    const folder = await mkdtemp(join(tmpdir(), "trawler-"));
    const path = join(folder, "frames.jsonl");
    return {
      config: { path },
      arrived: async () => (await readFile(path, "utf8")).split("\n").slice(0, -1),
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
    };
  },
});

for (const { name, run } of cases) test(name, run);
