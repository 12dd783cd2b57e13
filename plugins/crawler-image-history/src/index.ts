import { defineCrawler, TrawlerError } from "@trawler/plugin-api";
import * as z from "zod";

const text = (description: string) => z.string().nullable().describe(description);

/** One feature per step, the oldest first; the key is its number, from 1. */
export default defineCrawler({
  name: "image-history",
  description: "Lists the steps that made the image of a container.",
  config: z.strictObject({}),
  scope: "member",
  needs: ["meta"],
  onChange: true,
  features: {
    imageHistory: z.strictObject({
      created: text("When the step was made, RFC 3339; null where the image hides it."),
      command: text("What made it, secrets redacted."),
      comment: text("What its builder says of it."),
      size: z
        .int()
        .nonnegative()
        .nullable()
        .meta({ "x-unit": "By", description: "What it added; the CRI does not say." }),
      empty: z.boolean().nullable().describe("It made no layer; null where that is not known."),
      layer: text("Digest of the content of the layer that it made; null where it made none or that is not known."),
    }),
  },
  create: () => ({
    async *crawl({ meta: { workload, container } }, { problem }) {
      // Where a frame is about one container, that is the subject itself.
      const one = container ?? (workload.kind === "container" ? workload.containers[0] : undefined);
      // A host, or one that its runtime does not have (yet).
      if (!one || one.id === null) return;
      const { steps, truncated } = one.imageInspection ?? { steps: null, truncated: false };
      if (steps === null) {
        throw new TrawlerError("TRAWLER_UNSUPPORTED", "no runtime that can be asked says how its image came about");
      }
      for (const [index, { createdAt: created, ...step }] of steps.entries()) {
        yield { type: "imageHistory", key: String(index + 1), value: { created, ...step } };
      }
      if (truncated) problem("truncated", "the image has more or longer steps than are kept");
    },
  }),
});
