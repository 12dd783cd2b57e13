import { documentOf, graphite, parseFrame } from "@trawler/format";
import { emitterContract } from "@trawler/testkit";
import { expect, test } from "vitest";
import plugin from "../src/index.ts";
import { receiver } from "./receiver.ts";

const line = (bytes: Uint8Array): string => graphite(documentOf(parseFrame(bytes)), { prefix: "trawler" }).trimEnd();

const cases = emitterContract(plugin, {
  config: { address: "graphite.example:2003" },
  arrives: ({ bytes }) => line(bytes),
  async world() {
    const server = await receiver();
    return {
      config: { address: server.address },
      // Loopback hands over at once; what the system has taken is read within a few turns.
      async arrived() {
        for (let quiet = 0, seen = -1; quiet < 10; quiet += 1) {
          if (server.lines().length !== seen) quiet = 0;
          seen = server.lines().length;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        return server.lines();
      },
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

test.each(["graphite.example", "graphite:99999", ":2003", "a b:2003", "graphite:2003/x"])(
  "%s is no address",
  (address) => {
    expect(plugin.config.safeParse({ address }).success).toBe(false);
  },
);
