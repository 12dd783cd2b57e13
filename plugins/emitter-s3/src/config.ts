import { FORMATS, NAME_DESCRIPTION, NAME_HINT, NAME_TEMPLATE } from "@trawler/format";
import { senderSettings } from "@trawler/http-client";
import * as z from "zod";

const { url, headers, timeout, tls } = senderSettings;
const secret = { "x-secret": true, writeOnly: true, format: "password" } as const;
const word = z.string().regex(/^[!-~]+$/, "expected one word of ASCII");

export const config = z
  .strictObject({
    bucket: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "expected a bucket's name, such as trawler-frames")
      .describe("Bucket that gets the objects; it must exist."),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,64}$/, "expected a region, such as eu-central-1")
      .default("us-east-1")
      .describe("Region that requests are signed for."),
    endpoint: url
      .refine((text) => /^https?:\/\/[^/?#]+\/?$/.test(text), "expected an address without a path")
      .optional()
      .describe("Address of another object store; Amazon's of the region where it is not set."),
    pathStyle: z
      .boolean()
      .optional()
      .describe("Write the bucket into the path, not into the host's name; so by default where `endpoint` is set."),
    prefix: z
      .string()
      .max(512)
      .regex(/^(?:[A-Za-z0-9._=-]+(?:\/[A-Za-z0-9._=-]+)*)?$/, "expected a folder, such as trawler/frames")
      .default("trawler")
      .describe("Folder of the objects in the bucket; yyyy/mm/dd/hh of the first frame's time (UTC) follows."),
    format: z
      .enum(FORMATS)
      .default("json")
      .describe("`json`: the frame itself, one a line; the others are projections of it."),
    name: z.string().regex(NAME_TEMPLATE, NAME_HINT).optional().describe(NAME_DESCRIPTION),
    compression: z.enum(["gzip", "none"]).default("gzip").describe("Compression of the objects."),
    accessKeyId: word.optional().meta(secret).describe("Access key's id; write ${env:…} or ${file:…} here."),
    secretAccessKey: word.optional().meta(secret).describe("Access key's secret; write ${env:…} or ${file:…} here."),
    sessionToken: word.optional().meta(secret).describe("Token of temporary credentials."),
    credentialsFile: z
      .string()
      .optional()
      .describe("Path of a file in the format of AWS's shared credentials, read again at each request."),
    profile: z.string().default("default").describe("Section of that file."),
    headers: headers.describe("Further headers of each request, such as x-amz-storage-class; they are signed."),
    timeout,
    tls,
  })
  .refine(
    ({ accessKeyId, secretAccessKey, credentialsFile }) =>
      credentialsFile === undefined
        ? accessKeyId !== undefined && secretAccessKey !== undefined
        : accessKeyId === undefined && secretAccessKey === undefined,
    { message: "set either accessKeyId and secretAccessKey, or credentialsFile" },
  );

export type Config = z.output<typeof config>;
