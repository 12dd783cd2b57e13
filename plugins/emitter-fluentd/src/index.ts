import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { NAME_DESCRIPTION, NAME_HINT, NAME_TEMPLATE, nameBy } from "@trawler/format";
import { DURATION, defineEmitter, errorMessage, parseDuration, TrawlerError } from "@trawler/plugin-api";
import * as z from "zod";
import { Connection } from "./connection.ts";
import { forwardMessage } from "./message.ts";

const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/;
const hint = "expected a duration from 100ms to 1m, such as 10s";
const secret = { "x-secret": true, writeOnly: true, format: "password" } as const;

export default defineEmitter({
  name: "fluentd",
  description: "Sends frames to Fluentd or Fluent Bit by the forward protocol, each batch confirmed.",
  config: z.strictObject({
    address: z
      .string()
      .regex(ADDRESS, "expected host:port, such as fluentd.example:24224")
      .refine((text) => Number(ADDRESS.exec(text)?.[3] ?? 1) <= 65_535, "a port is at most 65535")
      .describe("Receiver of the forward protocol."),
    tag: z
      .string()
      .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, "expected words joined by dots, such as trawler.frame")
      .default("trawler.frame")
      .describe("Tag of all records, by which the receiver routes them."),
    records: z
      .enum(["frame", "features"])
      .default("frame")
      .describe("`frame`: one record a frame; `features`: its metadata, then one record a feature."),
    name: z.string().regex(NAME_TEMPLATE, NAME_HINT).optional().describe(NAME_DESCRIPTION),
    sharedKey: z.string().min(1).meta(secret).optional().describe("Key that the receiver shares with its clients."),
    username: z.string().default("").describe("User, where the receiver asks for one."),
    password: z.string().meta(secret).default("").describe("Password of that user."),
    tls: z
      .strictObject({
        ca: z.string().optional().describe("Path of the CA certificates (PEM); the system's where it is not set."),
      })
      .optional()
      .describe("Speak TLS."),
    timeout: z
      .string()
      .regex(DURATION, hint)
      .refine((text) => {
        const value = parseDuration(text);
        return value === null || (value >= 100 && value <= 60_000);
      }, hint)
      .default("10s")
      .describe("Time that connecting, or one batch with its answer, may take."),
  }),
  create: async ({ address, tag, records, name, sharedKey, username, password, tls, timeout }) => {
    const [, bracketed, host = bracketed ?? "", port] = ADDRESS.exec(address) ?? [];
    const nameOf = nameBy(name);
    const connection = new Connection({
      host,
      port: Number(port),
      timeout: parseDuration(timeout) ?? 0,
      account: sharedKey === undefined ? null : { hostname: hostname(), sharedKey, username, password },
      tls: tls === undefined ? null : { ca: tls.ca === undefined ? null : await readText(tls.ca) },
    });
    return {
      async write(envelopes, { signal }) {
        if (envelopes.length === 0) return undefined;
        const chunk = randomBytes(16).toString("base64");
        await connection.send(forwardMessage(tag, envelopes, { records, nameOf }, chunk), chunk, signal);
        return undefined;
      },
      [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
    };
  },
});

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `tls.ca: cannot read ${path}: ${errorMessage(cause)}`, { cause });
  });
}
