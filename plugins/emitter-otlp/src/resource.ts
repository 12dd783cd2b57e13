import type { Frame, FrameContainer } from "@trawler/plugin-api";
import { parseImage } from "@trawler/plugin-api";
import { type Attribute, attributesOf } from "./value.ts";

/** One resource of a frame with its features: the pod or host itself, or one of its containers. */
export interface Part {
  readonly resource: { readonly attributes: readonly Attribute[] };
  readonly features: Frame["features"];
  readonly problems: Frame["problems"];
  readonly container: FrameContainer | null;
}

/** The frame's own part, then one for each container: labels of a pod are `k8s.pod.label.<key>`. */
export function partsOf(frame: Frame): readonly Part[] {
  const own = {
    ...frame.resource,
    ...(frame.kind === "pod" ? prefixed("k8s.pod.label", frame.labels) : prefixed("container.label", frame.labels)),
  };
  const { features, problems } = frame;
  return [
    { resource: { attributes: attributesOf(own) }, features, problems, container: null },
    ...frame.containers.map((container) => ({
      resource: { attributes: attributesOf({ ...own, ...containerAttributes(container) }) },
      features: container.features,
      problems: container.problems,
      container,
    })),
  ];
}

function containerAttributes({ name, id, image, digest, state, resource }: FrameContainer): Record<string, unknown> {
  const parts = parseImage(image);
  return {
    ...resource,
    "k8s.container.name": name,
    "container.name": name,
    "container.id": id,
    "container.image.name": parts.name,
    "container.image.tags": parts.tag === null ? null : [parts.tag],
    "container.image.repo_digests": digest === null || parts.name === null ? null : [`${parts.name}@${digest}`],
    "k8s.container.restart_count": state.restarts,
  };
}

function prefixed(prefix: string, map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [`${prefix}.${key}`, value]));
}
