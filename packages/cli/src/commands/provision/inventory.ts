import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@trawler/kube";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";
import type { Cluster, Inventory } from "@trawler/provision";
import { stateFolder } from "../../state.ts";
import type { World } from "../../world.ts";
import { askCollector } from "../inventory/socket.ts";

export interface InventoryOptions {
  /** The folder of a running inventory. */
  readonly inventory?: string;
}

/**
 * The inventory that runs on this host for the same cluster: the one of the named folder, or of the default one. Null
 * where none does. Throws TRAWLER_CONFIG_INVALID where the named one does not run, or is about another cluster.
 */
export async function findInventory(
  options: InventoryOptions,
  cluster: Cluster,
  world: World,
): Promise<Inventory | null> {
  const folder = options.inventory ?? join(stateFolder(undefined, world.env, world.userId), "inventory");
  const refuse = (why: string): null => {
    if (options.inventory === undefined) return null;
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `--inventory ${folder}: ${why}`);
  };
  try {
    const answer = await askCollector(folder, "GET", "/v1/status");
    if (answer === null) return refuse("no inventory runs with this folder");
    const { body } = answer;
    if (!isRecord(body) || body["leader"] !== true) return refuse("it is a standby, which reads nothing");
    if (await isOfAnother(folder, cluster)) return refuse(`it is about another cluster than ${cluster.server}`);
    return inventoryOf(folder, streamsOf(body));
  } catch (error) {
    return refuse(errorMessage(error));
  }
}

function inventoryOf(folder: string, streams: ReadonlySet<string>): Inventory {
  return {
    follows: ({ group, plural }) => streams.has(group === "" ? plural : `${plural}.${group}`),
    refresh: async ({ kind, namespace, name }, signal) => {
      signal.throwIfAborted();
      const query = new URLSearchParams({ kind, name, ...(namespace !== null && { namespace }) });
      const answer = await askCollector(folder, "POST", `/v1/refresh?${query}`);
      if (answer === null || answer.status === 503)
        throw new TrawlerError("TRAWLER_UNAVAILABLE", `the inventory in ${folder} does not run any more`);
      const body = isRecord(answer.body) ? answer.body : {};
      if (answer.status === 200 && typeof body["uid"] === "string") return body["uid"];
      if (body["code"] === "TRAWLER_UNSUPPORTED") return null;
      throw new TrawlerError("TRAWLER_RETRY", `the inventory: ${String(body["message"])}`);
    },
  };
}

/** The streams that it follows, such as `pods` and `deployments.apps`. */
function streamsOf(status: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const kinds = Array.isArray(status["kinds"]) ? status["kinds"].filter(isRecord) : [];
  return new Set(kinds.map(({ stream }) => String(stream)));
}

/** By the uid of namespace kube-system, which the inventory keeps; who may not read that is believed. */
async function isOfAnother(folder: string, cluster: Cluster): Promise<boolean> {
  const known = await readFile(join(folder, "cluster-id"), "utf8").catch(() => "");
  const uid = await cluster.uid();
  return known !== "" && uid !== null && known.trim() !== uid;
}
