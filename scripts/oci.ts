import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** One tar file that lies in `blobs/sha256` under its own hash. */
export interface Layer {
  readonly digest: string;
  readonly size: number;
}

export interface ImageOptions {
  /** With its tag: what `ctr` and the kubelet call it. */
  readonly name: string;
  readonly architecture: string;
  readonly layers: readonly Layer[];
  /** The image's configuration, as the OCI image specification names its fields. */
  readonly config: object;
  readonly blobs: string;
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar";

/** Moves a tar file to its place among the blobs. */
export async function addLayer(blobs: string, file: string): Promise<Layer> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  const digest = hash.digest("hex");
  const { size } = await stat(file);
  await rename(file, join(blobs, digest));
  return { digest, size };
}

/** Writes the configuration and the manifest, and answers the text of `index.json`. One time for all: same parts, same bytes. */
export async function describeImage({ name, architecture, layers, config, blobs }: ImageOptions): Promise<string> {
  const created = "2024-01-01T00:00:00Z";
  const addJson = async (value: object, mediaType: string) => {
    const text = JSON.stringify(value);
    const digest = createHash("sha256").update(text).digest("hex");
    await writeFile(join(blobs, digest), text);
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
  };
  const platform = { architecture, os: "linux" };
  const described = await addJson(
    {
      created,
      ...platform,
      config,
      rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => `sha256:${digest}`) },
      history: layers.map(() => ({ created, created_by: "scripts/image.ts" })),
    },
    CONFIG,
  );
  const manifest = await addJson(
    {
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: described,
      layers: layers.map(({ digest, size }) => ({ mediaType: LAYER, digest: `sha256:${digest}`, size })),
    },
    MANIFEST,
  );
  const annotations = {
    "io.containerd.image.name": name,
    "org.opencontainers.image.ref.name": name.slice(name.lastIndexOf(":") + 1),
  };
  return JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, platform, annotations }] });
}
