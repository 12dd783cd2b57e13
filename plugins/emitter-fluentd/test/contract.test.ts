import { emitterContract } from "@trawler/testkit";
import { test } from "vitest";
import plugin from "../src/index.ts";
import { receiver } from "./receiver.ts";

const cases = emitterContract(plugin, {
  config: { address: "fluentd.example:24224" },
  async world() {
    const server = await receiver();
    return {
      config: { address: server.address },
      arrived: async () =>
        server.messages.flatMap(({ entries }) => entries.map(({ record }) => JSON.stringify(record))),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  async away() {
    const gone = await receiver();
    await gone[Symbol.asyncDispose]();
    return { config: { address: gone.address } };
  },
});

for (const { name, run } of cases) test(name, run);
