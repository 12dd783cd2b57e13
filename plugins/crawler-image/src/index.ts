import { defineCrawler } from "@trawler/plugin-api";
import * as z from "zod";
import { imageLabels, parseReference } from "./parse.ts";

const text = (description: string) => z.string().nullable().describe(description);

/** The image that a container runs, from what the environment says of it. */
export default defineCrawler({
  name: "image",
  description: "Reports the image of a container: name parts, digest, labels.",
  config: z.strictObject({}),
  scope: "member",
  needs: ["meta"],
  features: {
    image: z.strictObject({
      reference: z.string().describe("As it was asked for."),
      registry: text("Host, with its port; null where the reference has none."),
      repository: text("Path in the registry."),
      namespace: text("What stands before the last part of the repository, such as an owner."),
      name: text("Last part of the repository, without tag."),
      tag: text("Tag; null where the reference has none, and `latest` is only meant."),
      digest: text("Digest of what runs, or else that of the reference."),
      labels: z
        .array(z.string())
        .readonly()
        .describe(
          "Labels that the image says about itself (`org.opencontainers.image.…`), `name=value`; the runtime passes them on with Docker only.",
        ),
    }),
  },
  create: () => ({
    async *crawl({ meta: { workload, container } }) {
      // Where a frame is about one container, that is the subject itself.
      const one = container ?? (workload.kind === "container" ? workload.containers[0] : undefined);
      if (!one || one.image === "") return;
      const { digest, ...parts } = parseReference(one.image);
      const labels = workload.kind === "container" ? imageLabels(workload.labels) : [];
      yield {
        type: "image",
        key: "image",
        value: { reference: one.image, ...parts, digest: one.digest ?? digest, labels },
      };
    },
  }),
});
