/** One image of a docker-archive: the format that both `docker load` and `ctr images import` read. */
export interface ArchiveImage {
  readonly name: string;
  /** SHA-256 of the one uncompressed layer, hex. */
  readonly layer: string;
  readonly entrypoint: readonly string[];
  readonly env?: readonly string[];
  readonly ports?: readonly number[];
}

/** File names and contents of the archive, except for the layers themselves (`<sha256>.tar`). */
export const archiveFiles = (
  images: readonly ArchiveImage[],
  architecture: string,
  digest: (text: string) => string,
): Map<string, string> => {
  const files = new Map<string, string>();
  const manifest = images.map(({ name, layer, entrypoint, env = [], ports = [] }) => {
    const config = JSON.stringify({
      architecture,
      os: "linux",
      created: "2024-01-01T00:00:00Z",
      config: {
        Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...env],
        Entrypoint: entrypoint,
        WorkingDir: "/",
        ExposedPorts: Object.fromEntries(ports.map((port) => [`${port}/tcp`, {}])),
        Labels: { "org.opencontainers.image.title": name },
      },
      rootfs: { type: "layers", diff_ids: [`sha256:${layer}`] },
      history: [{ created: "2024-01-01T00:00:00Z", created_by: "trawler testbed" }],
    });
    const file = `${digest(config)}.json`;
    files.set(file, config);
    return { Config: file, RepoTags: [name], Layers: [`${layer}.tar`] };
  });
  files.set("manifest.json", JSON.stringify(manifest));
  return files;
};
