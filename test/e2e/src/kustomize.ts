import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { kubectl } from "@trawler/testbed";

const base = fileURLToPath(new URL("../../../deploy/kustomize", import.meta.url));

export interface Overlay {
  readonly tier?: "files" | "namespaces";
  /** Further fields of the overlay. */
  readonly fields?: object;
  /** Files beside it. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What Kustomize makes of the base under an overlay of the test's own, as an operator would write it. */
export async function kustomize({ tier, fields = {}, files = {} }: Overlay): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "trawler-kustomize-"));
  try {
    const at = (path: string): string => relative(folder, join(base, path));
    const overlay = {
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      resources: [at("base")],
      ...(tier !== undefined && { components: [at(`tiers/${tier}`)] }),
      ...fields,
    };
    await writeFile(join(folder, "kustomization.yaml"), JSON.stringify(overlay));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return (await kubectl(["kustomize", folder])).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
