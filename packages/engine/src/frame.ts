import {
  type Container,
  FRAME_SCHEMA,
  type Frame,
  type FrameContainer,
  type FrameReason,
  type Workload,
} from "@trawler/plugin-api";
import type { TargetResult } from "./crawl.ts";
import { cleanResource, describe } from "./describe.ts";
import { ProblemList } from "./problem.ts";
import { clip } from "./text.ts";
import { uuid7 } from "./uuid.ts";

/** What one frame is made of, besides its workload. */
export interface FrameInput {
  readonly reason: FrameReason;
  readonly agent: Frame["agent"];
  readonly sequence: number;
  /** Wall clock, milliseconds. */
  readonly now: number;
  /** Seconds. */
  readonly observedFor: number;
  /** The subject's own part. */
  readonly subject: TargetResult;
  /** By container id. */
  readonly members: ReadonlyMap<string, TargetResult>;
}

const NOTHING: TargetResult = { features: [], problems: [] };

/** Builds a frame; the order of the fields is that of the published schema, so that equal frames are equal bytes. */
export function buildFrame(workload: Workload, input: FrameInput): Frame {
  const { reason, agent, sequence, now, observedFor, subject, members } = input;
  const { resource, labels, annotations, status, metadata, problems } = describe(workload);
  const all = new ProblemList();
  for (const problem of problems) all.add(problem);
  for (const problem of subject.problems) all.add(problem);
  return {
    schema: FRAME_SCHEMA,
    id: uuid7(now),
    sequence,
    time: new Date(now).toISOString(),
    observedFor: Math.round(Math.max(observedFor, 0) * 1000) / 1000,
    reason,
    final: reason === "ended",
    agent: { instance: agent.instance, version: agent.version },
    kind: workload.kind,
    resource,
    labels,
    annotations,
    status,
    metadata,
    features: subject.features,
    problems: all.list(),
    ...(subject.digests && { digests: subject.digests }),
    containers: workload.containers.map((container) =>
      buildContainer(container, (container.id !== null && members.get(container.id)) || NOTHING),
    ),
  };
}

/** A container's own part of its frames. */
type ContainerHead = Omit<FrameContainer, "features" | "problems" | "digests">;

const known = new WeakMap<Container, ContainerHead>();

function buildContainer(container: Container, { features, problems, digests }: TargetResult): FrameContainer {
  const { name, id, image, digest, type, state, resource, resources } = headOf(container);
  const own = { name, id, image, digest, type, state, resource, resources, features, problems };
  return digests ? { ...own, digests } : own;
}

/** Made once for each container value, as most frames are about one that has not changed. */
function headOf(container: Container): ContainerHead {
  const made = known.get(container);
  if (made) return made;
  const { name, id, image, digest, type, state, resource, resources } = container;
  const { status, reason, startedAt, finishedAt, exitCode, restarts, lastTermination } = state;
  const head: ContainerHead = {
    name,
    id,
    image: clip(image, 1024),
    digest,
    type,
    state: { status, reason, startedAt, finishedAt, exitCode, restarts, lastTermination },
    resource: cleanResource(resource),
    resources,
  };
  known.set(container, head);
  return head;
}
