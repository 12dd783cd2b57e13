import type { ImageInspection, ImageStep } from "@trawler/plugin-api";
import type { ImageStatusResponse } from "./messages.ts";
import { stringMap } from "./strings.ts";
import { child, list, parseInfo, type Redact, text } from "./verbose.ts";

type Json = Readonly<Record<string, unknown>>;

const MAX_STEPS = 100;
const MAX_TEXT = 1024;

/**
 * Reads a verbose image status: containerd and CRI-O put the image's configuration into its `info`, as the OCI image
 * specification has it. Null where the runtime does not have the image.
 */
export function readImage({ image, info }: ImageStatusResponse, redact: Redact): ImageInspection | null {
  if (image === null) return null;
  const config = child(parseInfo(info), "imageSpec");
  const layers = list(child(config, "rootfs")?.["diff_ids"]).flatMap((layer) => text(layer) ?? []);
  const history = config === null ? null : list(config["history"]).map((one) => child({ one }, "one"));
  const size = Number(image.size);
  return {
    source: "cri",
    id: text(image.id),
    tags: image.repoTags.slice(0, MAX_STEPS),
    createdAt: time(config?.["created"]),
    architecture: text(config?.["architecture"]),
    os: text(config?.["os"]),
    size: Number.isSafeInteger(size) && size > 0 ? size : null,
    labels: stringMap(child(child(config, "config"), "Labels")),
    layers: layers.slice(0, MAX_STEPS),
    steps: history && readSteps(history, layers, redact).slice(-MAX_STEPS),
    truncated: layers.length > MAX_STEPS || (history !== null && (history.length > MAX_STEPS || history.some(isLong))),
  };
}

/** Oldest first; each step that is not marked as empty made the next layer. */
function readSteps(history: readonly (Json | null)[], layers: readonly string[], redact: Redact): readonly ImageStep[] {
  let next = 0;
  return history.map((step) => {
    const empty = step?.["empty_layer"] === true;
    const command = clip(step?.["created_by"]);
    return {
      createdAt: time(step?.["created"]),
      command: command === null ? null : redact([command]).join(" "),
      comment: clip(step?.["comment"]),
      size: null,
      empty,
      layer: empty ? null : (layers[next++] ?? null),
    };
  });
}

function isLong(step: Json | null): boolean {
  return [step?.["created_by"], step?.["comment"]].some((one) => typeof one === "string" && one.length > MAX_TEXT);
}

function clip(value: unknown): string | null {
  if (typeof value !== "string" || value === "") return null;
  // A copy: a part of a text keeps the whole of it in memory.
  return value.length > MAX_TEXT ? Buffer.from(value.slice(0, MAX_TEXT)).toString() : value;
}

/** RFC 3339 in UTC. Images that are the same whenever they are built have the epoch or an earlier time: that is none. */
function time(value: unknown): string | null {
  const date = typeof value === "string" ? new Date(value) : null;
  if (date === null || Number.isNaN(date.getTime()) || date.getTime() <= 0) return null;
  return date.toISOString();
}
