import { parseFrame } from "@trawler/format";
import { emitterContract, httpReceiver } from "@trawler/testkit";
import { test } from "vitest";
import plugin from "../src/index.ts";
import { resourceMetrics } from "../src/metrics.ts";

const cases = emitterContract(plugin, {
  config: { url: "http://collector.example:4318" },
  arrives: ({ bytes }) => JSON.stringify(resourceMetrics(parseFrame(bytes))[0]),
  async world() {
    const { port, requests, ...rest } = await httpReceiver();
    return {
      config: { url: `http://127.0.0.1:${port}` },
      arrived: async () =>
        requests.flatMap(({ text }) =>
          (JSON.parse(text) as { readonly resourceMetrics: readonly object[] }).resourceMetrics.map((entry) =>
            JSON.stringify(entry),
          ),
        ),
      [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose](),
    };
  },
  async away() {
    const gone = await httpReceiver();
    await gone[Symbol.asyncDispose]();
    return { config: { url: `http://127.0.0.1:${gone.port}` } };
  },
});

for (const { name, run } of cases) test(name, run);
