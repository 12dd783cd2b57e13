import { DURATION, parseDuration } from "@trawler/plugin-api";
import * as z from "zod";

const hint = "expected a duration from 100ms to 1m, such as 10s";
const secret = { "x-secret": true, writeOnly: true, format: "password" } as const;

const url: z.ZodType<string, string> = z
  .url({ protocol: /^https?$/, error: "expected an address such as https://collector.example/frames" })
  .refine(
    (text) => !/^https?:\/\/[^/?#]*@/.test(text),
    "a user and a password belong into `headers`, not into the address",
  );

/** Settings of every plugin that posts to one address; the plugin describes what the address is. */
export const senderSettings = {
  url,
  compression: z.enum(["gzip", "none"]).default("gzip").describe("Content-Encoding of the bodies."),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, "a header's name"),
      z
        .string()
        .max(8_192)
        .regex(/^[^\r\n\0]*$/, "a header's value is one line")
        .meta(secret),
    )
    .default({})
    .describe("Headers of each request, such as an access key; write ${env:…} or ${file:…} for secrets."),
  tokenFile: z.string().optional().describe("Path of a file with a bearer token, read again at each request."),
  timeout: z
    .string()
    .regex(DURATION, hint)
    .refine((text) => {
      const value = parseDuration(text);
      return value === null || (value >= 100 && value <= 60_000);
    }, hint)
    .default("10s")
    .describe("Time that one request may take."),
  tls: z
    .strictObject({
      ca: z.string().optional().describe("Path of the CA certificates (PEM); the system's where it is not set."),
      certificate: z.string().optional().describe("Path of the client's certificate (PEM), for mutual TLS."),
      key: z.string().optional().describe("Path of the client's key (PEM)."),
      serverName: z.string().optional().describe("Name that the certificate must carry, where it is not the host."),
    })
    .prefault({})
    .describe("TLS of an https address. Files are read again at each connection."),
} as const;

export type SenderSettings = z.output<z.ZodObject<typeof senderSettings>>;
