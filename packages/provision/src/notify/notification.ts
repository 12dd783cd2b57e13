import { createHash } from "node:crypto";
import type { Item, Leftover, Report, RollbackResult, RunState } from "../journal/record.ts";

export const NOTIFICATION_SCHEMA = "trawler.provision/1";

/** What the world is told when a run is over. Holds no body, no parameter and no message of the template. */
export interface Notification {
  readonly schema: typeof NOTIFICATION_SCHEMA;
  /** The same for every attempt to tell of this end, also by a later process. */
  readonly id: string;
  /** When the run ended, ISO 8601. */
  readonly time: string;
  readonly instance: string;
  readonly template: string | null;
  readonly digest: string;
  readonly namespace: string | null;
  /** Host and port of the API server. */
  readonly server: string;
  readonly state: RunState;
  readonly headline: string | null;
  readonly rollback: RollbackResult;
  readonly ready: Report["ready"];
  /** In the template's order. */
  readonly objects: readonly NotifiedObject[];
  readonly leftovers: readonly Leftover[];
}

interface NotifiedObject extends Pick<Item, "namespace" | "name" | "uid" | "status"> {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The notification of a run that is over. The same run with the same end gives the same one. */
export function notificationOf(report: Report): Notification {
  const { instance, template, digest, namespace, server, state, headline, rollback, ready, leftovers } = report;
  const time = report.endedAt ?? report.createdAt;
  return {
    schema: NOTIFICATION_SCHEMA,
    id: idOf(instance, time),
    time,
    instance,
    template,
    digest,
    namespace,
    server,
    state,
    headline,
    rollback,
    ready,
    objects: report.objects.map(({ type, namespace: place, name, uid, status }) => ({
      apiVersion: type.apiVersion,
      kind: type.kind,
      namespace: place,
      name,
      uid,
      status,
    })),
    leftovers,
  };
}

/** A run may end more than once (a rollback, a retirement): each end has an id of its own, which its time makes. */
function idOf(instance: string, endedAt: string): string {
  const digest = createHash("sha256").update(`${instance} ${endedAt}`).digest("hex");
  return `${instance}-${digest.slice(0, 16)}`;
}
