import { DURATION, parseDuration, parseSize, SIZE } from "@trawler/plugin-api";
import * as z from "zod";

const address = z
  .string()
  .regex(/^\s*(\[[0-9a-fA-F:.]+\]|[^\s:[\]]+):\d{1,5}\s*$/, "expected host:port, such as kafka-0.kafka:9092");

/** What is no number of units at all is the pattern's fault to report, once. */
const within = (value: number | null, least: number, most: number): boolean =>
  value === null || (value >= least && value <= most);
const sizeHint = "expected a size from 1KiB to 1GiB, such as 900KiB";
const size = z
  .string()
  .regex(SIZE, sizeHint)
  .refine((text) => within(parseSize(text), 1024, 1024 ** 3), sizeHint);
const durationHint = "expected a duration from 100ms to 10m, such as 10s";
const duration = z
  .string()
  .regex(DURATION, durationHint)
  .refine((text) => within(parseDuration(text), 100, 600_000), durationHint);

export const config = z.strictObject({
  brokers: z.array(address).min(1).describe("Addresses of brokers to start from, each host:port."),
  topic: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,249}$/, "a topic's name holds letters, digits, dot, underscore and hyphen only")
    .default("trawler.frames")
    .describe("Topic that gets the frames."),
  createTopic: z.boolean().default(false).describe("Create the topic where it is missing."),
  partitions: z.int().min(1).max(10_000).default(6).describe("Partitions of a topic that is created."),
  compression: z.enum(["gzip", "zstd", "none"]).default("gzip").describe("Compression of the batches."),
  maxFrame: size
    .default("900KiB")
    .describe(
      "Largest frame, after compression; a larger one is cut, then split. Keep it below the topic's max.message.bytes.",
    ),
  clientId: z.string().max(249).default("trawler").describe("Name of this client in the broker's logs and quotas."),
  requestTimeout: duration.default("10s").describe("Time that one request may take."),
  tls: z
    .strictObject({
      ca: z.string().optional().describe("Path of the CA certificates (PEM); the system's where it is not set."),
      certificate: z.string().optional().describe("Path of the client's certificate (PEM), for mutual TLS."),
      key: z.string().optional().describe("Path of the client's key (PEM)."),
      serverName: z
        .string()
        .optional()
        .describe("Name that the broker's certificate must carry, where it is not the host."),
    })
    .optional()
    .describe("Speak TLS. Files are read again at each connection, so that a renewed certificate takes effect."),
  sasl: z
    .strictObject({
      mechanism: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).describe("SASL mechanism."),
      username: z.string().min(1).describe("User's name."),
      password: z
        .string()
        .optional()
        .meta({ "x-secret": true, writeOnly: true, format: "password" })
        .describe("Password; write ${env:…} or ${file:…} here, or set passwordFile."),
      passwordFile: z.string().optional().describe("Path of a file with the password, read again at each connection."),
    })
    .refine(({ password, passwordFile }) => (password === undefined) !== (passwordFile === undefined), {
      message: "set exactly one of password and passwordFile",
    })
    .optional()
    .describe("Authenticate with SASL."),
});

export type Config = z.output<typeof config>;

/** Bytes of a size such as `900KiB`. The pattern of the schema holds. */
export function bytesOf(text: string): number {
  return parseSize(text) ?? 0;
}

/** Milliseconds of a duration such as `10s`. The pattern of the schema holds. */
export function millisecondsOf(text: string): number {
  return parseDuration(text) ?? 0;
}
