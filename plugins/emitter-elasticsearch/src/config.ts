import { senderSettings } from "@trawler/http-client";
import * as z from "zod";

const secret = { "x-secret": true, writeOnly: true, format: "password" } as const;
const oneLine = z.string().regex(/^[^\r\n\0]+$/, "expected one line");

export const config = z.strictObject({
  ...senderSettings,
  url: senderSettings.url
    .refine((text) => !/[?#]/.test(text), "expected an address without a query")
    .describe("Base address of the cluster; /_bulk is added."),
  index: z
    .string()
    .max(200)
    .regex(
      /^(?!\.{1,2}$)[a-z0-9.](?:[a-z0-9._-]|\{yyyy\}|\{MM\}|\{dd\})*$/,
      "expected lower-case letters, digits, dot, hyphen, underscore and {yyyy}, {MM}, {dd}, such as trawler-{yyyy}.{MM}.{dd}",
    )
    .default("trawler-frames")
    .describe("Data stream or index; {yyyy}, {MM} and {dd} are those of the frame's time (UTC)."),
  format: z
    .enum(["ecs", "json"])
    .default("ecs")
    .describe(
      "`ecs`: a document for the subject and one for each container, by the Elastic Common Schema; `json`: the frame itself with `@timestamp`.",
    ),
  basic: z
    .strictObject({
      username: oneLine.describe("User's name."),
      password: oneLine
        .optional()
        .meta(secret)
        .describe("Password; write ${env:…} or ${file:…} here, or set passwordFile."),
      passwordFile: z.string().optional().describe("Path of a file with the password, read again at each request."),
    })
    .refine(({ password, passwordFile }) => (password === undefined) !== (passwordFile === undefined), {
      message: "set exactly one of password and passwordFile",
    })
    .optional()
    .describe("Authenticate as a user."),
  apiKey: oneLine
    .optional()
    .meta(secret)
    .describe("API key as the cluster encodes it; write ${env:…} or ${file:…} here, or set apiKeyFile."),
  apiKeyFile: z.string().optional().describe("Path of a file with the encoded API key, read again at each request."),
});

export type Config = z.output<typeof config>;
