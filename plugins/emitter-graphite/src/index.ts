import { documentOf, graphite, NAME_DESCRIPTION, NAME_HINT, NAME_TEMPLATE, nameBy, parseFrame } from "@trawler/format";
import { DURATION, defineEmitter, parseDuration } from "@trawler/plugin-api";
import * as z from "zod";
import { Connection } from "./connection.ts";

const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/;
const hint = "expected a duration from 100ms to 1m, such as 10s";

export default defineEmitter({
  name: "graphite",
  description: "Sends the figures of frames to Graphite by its plaintext protocol over TCP.",
  config: z.strictObject({
    address: z
      .string()
      .regex(ADDRESS, "expected host:port, such as graphite.example:2003")
      .refine((text) => Number(ADDRESS.exec(text)?.[3] ?? 1) <= 65_535, "a port is at most 65535")
      .describe("Receiver of the plaintext protocol (carbon)."),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, "expected words joined by dots, such as stats.trawler")
      .default("trawler")
      .describe("Beginning of each path; then follow the name, the key and the figure."),
    name: z.string().regex(NAME_TEMPLATE, NAME_HINT).optional().describe(NAME_DESCRIPTION),
    timeout: z
      .string()
      .regex(DURATION, hint)
      .refine((text) => {
        const value = parseDuration(text);
        return value === null || (value >= 100 && value <= 60_000);
      }, hint)
      .default("10s")
      .describe("Time that connecting or one write may take."),
  }),
  create: ({ address, prefix, name, timeout }) => {
    const nameOf = nameBy(name);
    const [, bracketed, host = bracketed ?? "", port] = ADDRESS.exec(address) ?? [];
    const connection = new Connection({ host, port: Number(port), timeout: parseDuration(timeout) ?? 0 });
    return {
      async write(envelopes, { signal }) {
        const lines = envelopes.map(({ bytes }) => graphite(documentOf(parseFrame(bytes), nameOf), { prefix }));
        const text = lines.join("");
        if (text !== "") await connection.send(Buffer.from(text), signal);
        return undefined;
      },
      [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
    };
  },
});
