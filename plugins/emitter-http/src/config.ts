import { FORMATS, NAME_DESCRIPTION, NAME_HINT, NAME_TEMPLATE } from "@trawler/format";
import { senderSettings } from "@trawler/http-client";
import * as z from "zod";

export const config = z.strictObject({
  ...senderSettings,
  url: senderSettings.url.describe("Address that gets the frames by POST. Redirects are not followed."),
  format: z
    .enum(FORMATS)
    .default("json")
    .describe("`json`: the frame itself, one a line; the others are projections of it."),
  name: z.string().regex(NAME_TEMPLATE, NAME_HINT).optional().describe(NAME_DESCRIPTION),
});
