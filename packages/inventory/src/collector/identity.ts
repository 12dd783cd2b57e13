import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ApiClient, apiStatus, isRecord, objectMeta } from "@trawler/kube";
import { errorCode, TrawlerError } from "@trawler/plugin-api";

const FILE = "cluster-id";

/**
 * Makes sure that the server is the cluster that this folder is about: the UID of namespace kube-system is kept beside
 * the store. Throws TRAWLER_REFUSED for another cluster, and what the client throws where it cannot be asked. A role
 * that may not list namespaces is not asked.
 */
export async function checkCluster(client: ApiClient, folder: string, signal: AbortSignal): Promise<void> {
  const uid = await clusterUid(client, signal);
  if (uid === null) return;
  const path = join(folder, FILE);
  const known = await readFile(path, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
  if (known === null) {
    await writeFile(`${path}.new`, uid, { mode: 0o600 });
    await rename(`${path}.new`, path);
  } else if (known.trim() !== uid) {
    throw new TrawlerError(
      "TRAWLER_REFUSED",
      `the API server is another cluster than the one that ${folder} is about; name another state.folder`,
    );
  }
}

async function clusterUid(client: ApiClient, signal: AbortSignal): Promise<string | null> {
  try {
    const query = { fieldSelector: "metadata.name=kube-system" };
    const body = await client.get({ what: "list namespaces", path: "/api/v1/namespaces", query, signal });
    const items = isRecord(body) && Array.isArray(body["items"]) ? body["items"] : [];
    const first: unknown = items[0];
    return isRecord(first) ? (objectMeta(first)?.uid ?? null) : null;
  } catch (error) {
    const status = apiStatus(error);
    if (status === 403 || status === 404) return null;
    throw error;
  }
}
