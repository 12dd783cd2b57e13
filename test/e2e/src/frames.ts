import type { Feature, Frame, FrameContainer, Problem } from "@trawler/plugin-api";
import { waitFor } from "./wait.ts";

/** The frames that an agent wrote, in their order, with waits on them. */
export class FrameLog {
  readonly all: Frame[] = [];

  /** Frames of one pod, by UID or by `namespace/name`, or of one container that is a subject itself, by its name. */
  of(pod: string): Frame[] {
    return this.all.filter(
      ({ resource }) =>
        resource["k8s.pod.uid"] === pod ||
        resource["container.name"] === pod ||
        `${resource["k8s.namespace.name"]}/${resource["k8s.pod.name"]}` === pod,
    );
  }

  /** The first frame of a pod, from number `after` on, for which `test` holds. */
  find(pod: string, test: (frame: Frame) => boolean, after = 0): Frame | undefined {
    return this.of(pod).slice(after).find(test);
  }

  /** Waits for such a frame. */
  next(pod: string, what: string, test: (frame: Frame) => boolean, deadline = 60_000): Promise<Frame> {
    return waitFor(`a frame of ${pod}: ${what}`, () => this.find(pod, test), deadline);
  }

  /** Waits for such a frame among those that are yet to come. */
  upcoming(pod: string, what: string, test: (frame: Frame) => boolean, deadline = 60_000): Promise<Frame> {
    const after = this.of(pod).length;
    return waitFor(`a new frame of ${pod}: ${what}`, () => this.find(pod, test, after), deadline);
  }
}

export function container(frame: Frame, name: string): FrameContainer {
  const found = frame.containers.find((one) => one.name === name);
  if (!found) throw new Error(`no container ${name} among ${frame.containers.map((one) => one.name).join(", ")}`);
  return found;
}

interface Holder {
  readonly features: readonly Feature[];
  readonly problems: readonly Problem[];
}

/** The value of a feature, by type and key; undefined where it is absent. */
export function feature(holder: Holder, type: string, key?: string): Record<string, unknown> | undefined {
  const found = holder.features.find((one) => one.type === type && (key === undefined || one.key === key));
  return found?.value as Record<string, unknown> | undefined;
}

export function number(holder: Holder, type: string, field: string, key?: string): number {
  const value = feature(holder, type, key)?.[field];
  if (typeof value !== "number") throw new Error(`${type}.${field} is ${String(value)}`);
  return value;
}
