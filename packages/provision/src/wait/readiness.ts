import { conditionsOf, listOf, metadataOf, numberOf, recordOf, textOf } from "../cluster/read.ts";
import type { ResourceType } from "../cluster/types.ts";

export type Readiness =
  | { readonly state: "ready" }
  | { readonly state: "waiting"; readonly why: string }
  /** It will not become ready by itself. */
  | { readonly state: "failed"; readonly why: string };

const READY: Readiness = { state: "ready" };
const waiting = (why: string): Readiness => ({ state: "waiting", why });
const failed = (why: string): Readiness => ({ state: "failed", why });

type Rule = (spec: Fields, status: Fields, object: unknown) => Readiness;
type Fields = Readonly<Record<string, unknown>>;

/** Whether an object, as the server shows it, does what it was made for. Kinds without a rule are ready at once. */
export function readinessOf({ kind, group }: Pick<ResourceType, "kind" | "group">, object: unknown): Readiness {
  const spec = recordOf(recordOf(object)["spec"]);
  const status = recordOf(recordOf(object)["status"]);
  const rule = RULES.get(group === "" ? kind : `${kind}.${group}`);
  if (rule !== undefined) return rule(spec, status, object);
  const condition = conditionsOf(object).find(
    ({ type, status: value }) => (type === "Ready" || type === "Available") && value !== "True",
  );
  if (condition === undefined) return READY;
  return waiting(condition.message ?? `${condition.type} is ${condition.status}`);
}

const deployment: Rule = (spec, status, object) => {
  const behind = unseen(status, object);
  if (behind !== null) return behind;
  const progressing = conditionsOf(object).find(({ type }) => type === "Progressing");
  if (progressing?.status === "False") return failed(progressing.message ?? "it makes no progress");
  const wanted = numberOf(spec["replicas"], 1);
  const updated = numberOf(status["updatedReplicas"]);
  const available = numberOf(status["availableReplicas"]);
  if (updated >= wanted && available >= wanted && numberOf(status["replicas"]) === wanted) return READY;
  return waiting(`${Math.min(updated, available)} of ${wanted} replicas are available`);
};

const statefulSet: Rule = (spec, status, object) => {
  const behind = unseen(status, object);
  if (behind !== null) return behind;
  const wanted = numberOf(spec["replicas"], 1);
  const ready = numberOf(status["readyReplicas"]);
  const current =
    status["updateRevision"] === status["currentRevision"] || numberOf(status["updatedReplicas"]) >= wanted;
  return ready >= wanted && current ? READY : waiting(`${ready} of ${wanted} replicas are ready`);
};

const daemonSet: Rule = (_spec, status, object) => {
  const behind = unseen(status, object);
  if (behind !== null) return behind;
  const wanted = numberOf(status["desiredNumberScheduled"]);
  const ready = Math.min(numberOf(status["numberAvailable"]), numberOf(status["updatedNumberScheduled"]));
  return ready >= wanted ? READY : waiting(`${ready} of ${wanted} nodes have it`);
};

const job: Rule = (_spec, _status, object) => {
  const conditions = conditionsOf(object).filter(({ status }) => status === "True");
  if (conditions.some(({ type }) => type === "Complete")) return READY;
  const broken = conditions.find(({ type }) => type === "Failed");
  return broken === undefined ? waiting("it has not completed") : failed(broken.message ?? "it failed");
};

const pod: Rule = (_spec, status, object) => {
  if (status["phase"] === "Succeeded") return READY;
  if (status["phase"] === "Failed") return failed(textOf(status["message"]) ?? "it failed");
  const condition = conditionsOf(object).find(({ type }) => type === "Ready");
  return condition?.status === "True" ? READY : waiting(podTrouble(object) ?? "it is not ready");
};

const claim: Rule = (_spec, status) => {
  if (status["phase"] === "Bound") return READY;
  return status["phase"] === "Lost"
    ? failed("its volume is lost")
    : waiting(`it is ${textOf(status["phase"]) ?? "pending"}`);
};

const phase =
  (name: string): Rule =>
  (_spec, status) =>
    status["phase"] === name ? READY : waiting(`it is ${textOf(status["phase"]) ?? "new"}`);

const condition =
  (name: string): Rule =>
  (_spec, _status, object) => {
    const found = conditionsOf(object).find(({ type }) => type === name);
    return found?.status === "True" ? READY : waiting(found?.message ?? `it is not ${name}`);
  };

const service: Rule = (spec, status) => {
  if (spec["type"] !== "LoadBalancer") return READY;
  return listOf(recordOf(status["loadBalancer"])["ingress"]).length > 0 ? READY : waiting("it has no address yet");
};

const replicas: Rule = (spec, status, object) => {
  const behind = unseen(status, object);
  if (behind !== null) return behind;
  const wanted = numberOf(spec["replicas"], 1);
  const ready = numberOf(status["readyReplicas"]);
  return ready >= wanted ? READY : waiting(`${ready} of ${wanted} replicas are ready`);
};

const build: Rule = (_spec, status) => {
  const now = textOf(status["phase"]) ?? "new";
  if (now === "Complete") return READY;
  const why = `it is ${now}: ${textOf(status["message"]) ?? "see its log"}`;
  return ["Failed", "Error", "Cancelled"].includes(now) ? failed(why) : waiting(`it is ${now}`);
};

/** Some router has let it in. */
const route: Rule = (_spec, status) => {
  const admitted = listOf(status["ingress"]).some((ingress) =>
    conditionsOf({ status: ingress }).some(({ type, status: value }) => type === "Admitted" && value === "True"),
  );
  return admitted ? READY : waiting("no router has admitted it");
};

/** By kind and group: kinds of other groups may have the same names. */
const RULES: ReadonlyMap<string, Rule> = new Map([
  ["Deployment.apps", deployment],
  ["StatefulSet.apps", statefulSet],
  ["DaemonSet.apps", daemonSet],
  ["ReplicaSet.apps", replicas],
  ["ReplicationController", replicas],
  ["Job.batch", job],
  ["Pod", pod],
  ["PersistentVolumeClaim", claim],
  ["Service", service],
  ["Namespace", phase("Active")],
  ["CustomResourceDefinition.apiextensions.k8s.io", condition("Established")],
  ["DeploymentConfig.apps.openshift.io", deployment],
  ["Build.build.openshift.io", build],
  ["Route.route.openshift.io", route],
]);

/** Its controller has not seen its last change. */
function unseen(status: Fields, object: unknown): Readiness | null {
  return numberOf(status["observedGeneration"]) < metadataOf(object).generation
    ? waiting("its controller has not seen it yet")
    : null;
}

/** Why a pod's container does not run, in the kubelet's words. */
export function podTrouble(object: unknown): string | null {
  const status = recordOf(recordOf(object)["status"]);
  const all = [...listOf(status["initContainerStatuses"]), ...listOf(status["containerStatuses"])];
  for (const container of all) {
    const state = recordOf(container["state"]);
    const held = recordOf(state["waiting"]);
    const ended = recordOf(state["terminated"]);
    const reason = textOf(held["reason"]) ?? textOf(ended["reason"]);
    if (reason !== null && reason !== "Completed") {
      return `container ${textOf(container["name"])}: ${[reason, textOf(held["message"]) ?? textOf(ended["message"])].filter(Boolean).join(": ")}`;
    }
  }
  return null;
}
