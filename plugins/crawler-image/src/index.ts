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
        .describe("Labels that the image says about itself (`org.opencontainers.image.…`), `name=value`."),
      tags: z
        .array(z.string())
        .readonly()
        .nullable()
        .describe("References that named it on this node when its runtime was asked; null where no runtime says."),
      id: text("Digest of its configuration, by which its runtime knows it."),
      created: text("When it was made, RFC 3339; null also where it hides that to be the same whenever it is built."),
      architecture: text("Such as `amd64`."),
      os: text("Such as `linux`."),
      size: z
        .int()
        .nonnegative()
        .nullable()
        .meta({ "x-unit": "By", description: "As its runtime counts it: Docker unpacked, the CRI as it was pulled." }),
    }),
  },
  create: () => ({
    async *crawl({ meta: { workload, container } }) {
      // Where a frame is about one container, that is the subject itself.
      const one = container ?? (workload.kind === "container" ? workload.containers[0] : undefined);
      if (!one || one.image === "") return;
      const { digest, ...parts } = parseReference(one.image);
      const image = one.imageInspection;
      // A container of Docker inherits its image's labels.
      const labels = imageLabels(image?.labels ?? (workload.kind === "container" ? workload.labels : {}));
      yield {
        type: "image",
        key: "image",
        value: {
          reference: one.image,
          ...parts,
          digest: one.digest ?? digest,
          labels,
          tags: image?.tags ?? null,
          id: image?.id ?? null,
          created: image?.createdAt ?? null,
          architecture: image?.architecture ?? null,
          os: image?.os ?? null,
          size: image?.size ?? null,
        },
      };
    },
  }),
});
