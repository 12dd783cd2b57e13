import type { Frame } from "@trawler/plugin-api";
import { partsOf } from "./resource.ts";
import { attributesOf, nanoseconds } from "./value.ts";

/** SEVERITY_NUMBER_INFO and SEVERITY_NUMBER_WARN */
const INFO = { severityNumber: 9, severityText: "INFO" };
const WARN = { severityNumber: 13, severityText: "WARN" };

/** `resourceLogs` of one frame: what began, changed or ended, as an event, and each problem; none for a plain interval. */
export function resourceLogs(frame: Frame): readonly object[] {
  const scope = { name: "trawler", version: frame.agent.version };
  const time = { timeUnixNano: nanoseconds(frame.time), observedTimeUnixNano: nanoseconds(frame.time) };
  return partsOf(frame).flatMap(({ resource, problems, container }) => {
    const records = problems.map(({ crawler, code, message, count }) => ({
      ...time,
      ...WARN,
      eventName: "trawler.problem",
      body: { stringValue: message },
      attributes: attributesOf({ "trawler.crawler": crawler, "error.type": code, "trawler.problem.count": count ?? 1 }),
    }));
    const event = frame.reason === "interval" ? [] : [lifecycle(frame, container)];
    const logRecords = [...event.map((record) => ({ ...time, ...INFO, ...record })), ...records];
    return logRecords.length === 0 ? [] : [{ resource, scopeLogs: [{ scope, logRecords }] }];
  });
}

function lifecycle(frame: Frame, container: Frame["containers"][number] | null): object {
  const what = container === null ? frame.kind : "container";
  const state = container?.state;
  return {
    eventName: `trawler.${what}.${frame.reason}`,
    body: { stringValue: `${what} ${container?.name ?? frame.resource["k8s.pod.name"] ?? ""} ${frame.reason}` },
    attributes: attributesOf({
      "trawler.frame.id": frame.id,
      "trawler.frame.sequence": frame.sequence,
      "trawler.frame.final": frame.final,
      "k8s.pod.status.phase": container === null ? frame.status?.phase : null,
      "k8s.container.status.state": state?.status,
      "k8s.container.status.reason": state?.reason,
      "process.exit.code": state?.exitCode,
    }),
  };
}
