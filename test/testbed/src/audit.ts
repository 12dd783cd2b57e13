import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** One answered request, out of the API server's audit log. */
export interface AuditedRequest {
  readonly time: Date;
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly uri: string;
  readonly status: number;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const part = (value: unknown, key: string): unknown => (isRecord(value) ? value[key] : undefined);

/**
 * A line of the log as a request. A watch is counted when it starts and anything else when it is complete,
 * so that each request is counted once; the other lines answer `undefined`.
 */
export const parseAuditLine = (line: string): AuditedRequest | undefined => {
  const event: unknown = JSON.parse(line);
  const verb = text(part(event, "verb"));
  const counted = verb === "watch" ? "ResponseStarted" : "ResponseComplete";
  if (part(event, "stage") !== counted) return undefined;
  const status = part(part(event, "responseStatus"), "code");
  return {
    time: new Date(text(part(event, "requestReceivedTimestamp"))),
    user: text(part(part(event, "user"), "username")),
    verb,
    resource: text(part(part(event, "objectRef"), "resource")),
    uri: text(part(event, "requestURI")),
    status: typeof status === "number" ? status : 0,
  };
};

/** Requests of one user received since a moment. */
export const readAudit = async (
  auditLog: string,
  { user, since }: { readonly user: string; readonly since: Date },
): Promise<AuditedRequest[]> => {
  const requests: AuditedRequest[] = [];
  for await (const line of createInterface({ input: createReadStream(auditLog) })) {
    // The last line may be half written.
    if (!line.includes(`"${user}"`) || !line.endsWith("}")) continue;
    const request = parseAuditLine(line);
    if (request !== undefined && request.user === user && request.time >= since) requests.push(request);
  }
  return requests;
};
