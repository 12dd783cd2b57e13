import type { Cluster } from "../cluster/cluster.ts";
import { listOf, numberOf, recordOf, textOf } from "../cluster/read.ts";
import type { ResourceType } from "../cluster/types.ts";
import type { Item } from "../journal/record.ts";
import { type Readiness, readinessOf } from "./readiness.ts";

const STORAGE_CLASS: ResourceType = {
  apiVersion: "storage.k8s.io/v1",
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  namespaced: false,
};
const BUILD: ResourceType = {
  apiVersion: "build.openshift.io/v1",
  group: "build.openshift.io",
  version: "v1",
  kind: "Build",
  plural: "builds",
  namespaced: true,
};
const STARTS_BY_ITSELF = ["ConfigChange", "ImageChange"];

/** Readiness of an object that is not told by the object alone: what it refers to is read too. */
export async function readinessIn(cluster: Cluster, item: Item, object: Record<string, unknown>): Promise<Readiness> {
  const { kind, group } = item.type;
  const own = readinessOf(item.type, object);
  if (kind === "PersistentVolumeClaim" && group === "" && own.state === "waiting") {
    return (await waitsForConsumer(cluster, object)) ? { state: "ready" } : own;
  }
  if (kind === "BuildConfig" && ["", BUILD.group].includes(group)) return lastBuild(cluster, item, object);
  return own;
}

/** Its class binds it once a pod uses it: till then there is nothing to wait for. */
async function waitsForConsumer(cluster: Cluster, claim: Record<string, unknown>): Promise<boolean> {
  const name = textOf(recordOf(claim["spec"])["storageClassName"]) ?? "";
  const outcome = name === "" ? null : await cluster.read(STORAGE_CLASS, null, name);
  return outcome?.ok === true && outcome.object["volumeBindingMode"] === "WaitForFirstConsumer";
}

/** A configuration of builds is as ready as the last build of it; one that nothing starts is ready at once. */
async function lastBuild(
  cluster: Cluster,
  { name, namespace }: Item,
  configuration: Record<string, unknown>,
): Promise<Readiness> {
  const version = numberOf(recordOf(configuration["status"])["lastVersion"]);
  if (version === 0) {
    const triggers = listOf(recordOf(configuration["spec"])["triggers"]);
    const starts = triggers.some(({ type }) => STARTS_BY_ITSELF.includes(String(type)));
    return starts ? { state: "waiting", why: "its first build has not begun" } : { state: "ready" };
  }
  const build = `${name}-${version}`;
  const outcome = await cluster.read(BUILD, namespace, build);
  if (!outcome.ok) return { state: "waiting", why: `build ${build}: ${outcome.error.message}` };
  return readinessOf(BUILD, outcome.object);
}
