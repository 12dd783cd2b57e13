import { gunzipSync } from "node:zlib";
import { emitterContract } from "@trawler/testkit";
import { test } from "vitest";
import s3 from "../src/index.ts";
import { KEYS, objectStore } from "./store.ts";

const cases = emitterContract(s3, {
  config: { bucket: "trawler-frames", ...KEYS },
  async world() {
    const { url, objects, ...store } = await objectStore();
    return {
      config: { bucket: "trawler-frames", endpoint: url, ...KEYS },
      arrived: async () =>
        Array.from(objects.values()).flatMap((body) => gunzipSync(body).toString("utf8").split("\n").slice(0, -1)),
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  },
  async away() {
    const gone = await objectStore();
    await gone[Symbol.asyncDispose]();
    const config = { bucket: "trawler-frames", endpoint: gone.url, ...KEYS };
    return { config, [Symbol.asyncDispose]: async () => undefined };
  },
});

for (const { name, run } of cases) test(name, run);
