import { isRecord } from "@trawler/kube";
import type { FiguresEvent } from "../events.ts";
import type { ContainerInstance, Used } from "../record.ts";
import { exitCode } from "./facts.ts";
import { close, emptyState } from "./fold.ts";
import type { RecordState } from "./state.ts";

type Raw = Readonly<Record<string, unknown>>;

/** A frame of an agent as far as a record can use it; null where it is none. */
export function parseFigures(payload: Uint8Array): Raw | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(payload));
    return isRecord(value) && isRecord(value["resource"]) && typeof value["time"] === "string" ? value : null;
  } catch {
    return null;
  }
}

/**
 * What the pod used in all: its own figures, else the sums over its containers. What is known stays where the frame is
 * an earlier one, or a further part of one that was split: the first part has them.
 */
export function usedOf(frame: Raw, known: Used | null): Used | null {
  const part = frame["part"];
  const at = text(frame["time"]) ?? "";
  if ((isRecord(part) && part["index"] !== 0) || (known !== null && known.at > at)) return known;
  const containers = list(frame["containers"]);
  const total = (read: (holder: Raw) => number | null): number | null => {
    const parts = containers.map(read).filter((one) => one !== null);
    return read(frame) ?? (parts.length === 0 ? null : parts.reduce((sum, one) => sum + one, 0));
  };
  return {
    at,
    cpuSeconds: total((holder) => figure(holder, "cpu", "cpu.time")),
    memoryBytes: total((holder) => figure(holder, "memory", "memory.peak") ?? figure(holder, "memory", "memory.usage")),
  };
}

function figure(holder: Raw, type: string, name: string): number | null {
  const value = list(holder["features"]).find((feature) => feature["type"] === type)?.["value"];
  const read: unknown = isRecord(value) ? value[name] : null;
  return typeof read === "number" && Number.isFinite(read) ? read : null;
}

/** The record of a pod that only its node saw: it lived and ended while nobody could tell us. */
export function unseenPod(event: FiguresEvent, frame: Raw): RecordState {
  const resource = isRecord(frame["resource"]) ? frame["resource"] : {};
  const containers = list(frame["containers"]).map(instance);
  const state = emptyState({ kind: "Pod", uid: event.uid, epoch: event.epoch, receivedAt: event.receivedAt });
  const at = event.receivedAt;
  const known: RecordState = {
    ...state,
    namespace: text(resource["k8s.namespace.name"]),
    name: text(resource["k8s.pod.name"]) ?? event.uid,
    node: text(resource["k8s.node.name"]),
    containers,
    instances: containers,
    exitCode: exitCode(containers),
  };
  return close(known, null, { observedAt: at, evidence: "node", finalState: "unknown", notBefore: at, notAfter: at });
}

function instance(raw: Raw): ContainerInstance {
  const state = isRecord(raw["state"]) ? raw["state"] : {};
  const { type } = raw;
  return {
    container: text(raw["name"]) ?? "",
    type: type === "init" || type === "sidecar" || type === "ephemeral" ? type : "app",
    id: text(raw["id"]),
    image: text(raw["image"]) ?? "",
    digest: text(raw["digest"]),
    restarts: integer(state["restarts"]) ?? 0,
    status: state["status"] === "terminated" ? "terminated" : "unknown",
    reason: text(state["reason"]),
    exitCode: integer(state["exitCode"]),
    startedAt: text(state["startedAt"]),
    finishedAt: text(state["finishedAt"]),
  };
}

function list(value: unknown): readonly Raw[] {
  return Array.isArray(value) ? value.slice(0, 256).filter(isRecord) : [];
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, 4096) : null;
}

function integer(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}
