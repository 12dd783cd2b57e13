import type { Access, Capability, Container, Scope, Subject, Workload } from "@trawler/plugin-api";

/** One thing that a crawler can be asked about: the subject itself (`container` null) or one of its members. */
export interface Target {
  readonly container: Container | null;
  readonly access: Partial<Access>;
  /** The member's container id, or an empty text for the subject. */
  readonly id: string;
}

/** The subject first, then its open members in the order of the workload. */
export function targetsOf(workload: Workload, subject: Subject): readonly Target[] {
  const members = workload.containers.flatMap((container): Target[] => {
    const access = container.id === null ? undefined : subject.members.get(container.id);
    return access && container.id !== null ? [{ container, access, id: container.id }] : [];
  });
  return [{ container: null, access: subject.access, id: "" }, ...members];
}

/** Whether a crawler of this scope is asked about this target. Where subjects have no members all run on the subject. */
export function inScope(scope: Scope, target: Target, hasMembers: boolean): boolean {
  if (!hasMembers || scope === "both") return true;
  return (scope === "subject") === (target.container === null);
}

/** What the crawler declared and nothing else, or null where the target lacks some of it. The host itself gives `meta`. */
export function accessFor(needs: readonly Capability[], target: Target, workload: Workload): Partial<Access> | null {
  const picked: { -readonly [C in Capability]?: unknown } = {};
  for (const need of needs) {
    const capability = need === "meta" ? { workload, container: target.container } : target.access[need];
    if (capability === undefined) return null;
    picked[need] = capability;
  }
  return Object.freeze(picked) as Partial<Access>;
}
