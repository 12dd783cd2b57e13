import { emitterContract, httpReceiver as receiver } from "@trawler/testkit";
import { test } from "vitest";
import http from "../src/index.ts";

const cases = emitterContract(http, {
  config: { url: "https://collector.example/frames" },
  async world() {
    const { url, requests, ...rest } = await receiver();
    return {
      config: { url },
      arrived: async () => requests.flatMap(({ text }) => text.split("\n").slice(0, -1)),
      [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose](),
    };
  },
  async away() {
    const gone = await receiver();
    await gone[Symbol.asyncDispose]();
    return { config: { url: gone.url }, [Symbol.asyncDispose]: async () => undefined };
  },
});

for (const { name, run } of cases) test(name, run);
