import { emitterContract, httpReceiver as receiver } from "@trawler/testkit";
import { test } from "vitest";
import elasticsearch from "../src/index.ts";
import { took } from "./bulk.ts";

const cases = emitterContract(elasticsearch, {
  config: { url: "https://search.example:9200" },
  async world() {
    const { url, requests, ...rest } = await receiver(took());
    return {
      config: { url, format: "json" },
      arrived: async () =>
        requests.flatMap(({ text }) =>
          text
            .split("\n")
            .filter((line) => line.includes('"@timestamp"'))
            .map((line) => line.replace(/^\{"@timestamp":"[^"]*",/, "{")),
        ),
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
