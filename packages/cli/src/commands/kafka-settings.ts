import type { KafkaSettings } from "@trawler/inventory";
import * as z from "zod";

const address = z
  .string()
  .regex(/^\s*(\[[0-9a-fA-F:.]+\]|[^\s:[\]]+):\d{1,5}\s*$/, "host:port, such as kafka-0.kafka:9092");

export const topicName: z.ZodString = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,249}$/, "a topic's name of letters, digits, dot, underscore and hyphen");

type Fields = { readonly [Key in keyof KafkaSettings]-?: z.ZodType<KafkaSettings[Key]> };

/** Settings of a Kafka client, for the map that says what it is used for. */
export const kafkaConnection = (clientId: string): Fields => ({
  brokers: z.array(address).min(1).describe("Addresses of brokers to start from, each host:port."),
  clientId: z.string().max(249).default(clientId).describe("Name of this client in the broker's logs."),
  tls: z
    .strictObject({
      ca: z.string().optional().describe("Path of the CA certificates (PEM); the system's where it is not set."),
      certificate: z.string().optional().describe("Path of the client's certificate (PEM), for mutual TLS."),
      key: z.string().optional().describe("Path of the client's key (PEM)."),
      serverName: z.string().optional().describe("Name that the broker's certificate must carry."),
    })
    .optional()
    .describe("Speak TLS."),
  sasl: z
    .strictObject({
      mechanism: z.enum(["plain", "scram-sha-256", "scram-sha-512"]).describe("SASL mechanism."),
      username: z.string().min(1).describe("User's name."),
      password: z
        .string()
        .optional()
        .meta({ "x-secret": true, writeOnly: true, format: "password" })
        .describe("Password; write ${env:…} or ${file:…} here, or set passwordFile."),
      passwordFile: z.string().optional().describe("Path of a file with the password."),
    })
    .refine(({ password, passwordFile }) => (password === undefined) !== (passwordFile === undefined), {
      message: "set exactly one of password and passwordFile",
    })
    .optional()
    .describe("Authenticate with SASL."),
});
