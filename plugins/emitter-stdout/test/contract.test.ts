import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Emitter } from "@trawler/plugin-api";
import { emitterContract, type World } from "@trawler/testkit";
import { test } from "vitest";
import { descriptorEmitter } from "../src/emitter.ts";
import stdout from "../src/index.ts";

// Each world has a file in the place of standard output, which the test runner needs itself.
let descriptor = -1;
const plugin = {
  ...stdout,
  create: (): Emitter => descriptorEmitter({ descriptor, format: "json", colours: false }),
};

async function world(): Promise<World & { arrived(): Promise<readonly string[]> }> {
  const folder = await mkdtemp(join(tmpdir(), "trawler-"));
  const path = join(folder, "stdout");
  const file = await open(path, "w");
  descriptor = file.fd;
  return {
    config: { format: "json" },
    arrived: async () => (await readFile(path, "utf8")).split("\n").slice(0, -1),
    async [Symbol.asyncDispose]() {
      await file.close();
      await rm(folder, { recursive: true });
    },
  };
}

for (const { name, run } of emitterContract(plugin, { world })) test(name, run);
