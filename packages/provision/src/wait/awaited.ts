import { splitApiVersion } from "../cluster/discovery.ts";
import { isMap, type JsonMap } from "../json.ts";
import type { Mode } from "../template/types.ts";

/** Annotation of OpenShift: the object is one that whoever instantiates the template waits for. */
const WAIT = "template.alpha.openshift.io/wait-for-ready";
/** Groups and kinds that OpenShift's own controller knows how to wait for. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  Build: ["", "build.openshift.io"],
  BuildConfig: ["", "build.openshift.io"],
  Deployment: ["apps", "extensions"],
  DeploymentConfig: ["", "apps.openshift.io"],
  StatefulSet: ["apps"],
  Job: ["batch"],
  Route: ["", "route.openshift.io"],
};

/**
 * Which objects are waited for. In compat mode, where a template has the annotation anywhere: exactly those that have it,
 * of the kinds that OpenShift waits for. Else all.
 */
export function awaitedIn(mode: Mode, bodies: readonly JsonMap[]): (body: JsonMap) => boolean {
  if (mode !== "compat" || !bodies.some(isMarked)) return () => true;
  return (body) => isMarked(body) && isKnown(body);
}

function isMarked(body: JsonMap): boolean {
  const { metadata } = body;
  const annotations = isMap(metadata) ? metadata["annotations"] : undefined;
  return isMap(annotations) && annotations[WAIT] === "true";
}

function isKnown({ kind, apiVersion }: JsonMap): boolean {
  if (typeof kind !== "string" || typeof apiVersion !== "string" || !Object.hasOwn(KNOWN, kind)) return false;
  return KNOWN[kind]?.includes(splitApiVersion(apiVersion).group) === true;
}
