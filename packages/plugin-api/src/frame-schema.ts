import type { FrameReason, MetadataGroupName, MetadataSource, ProblemCode } from "./frame.ts";

/** Plain data of a JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

const SOURCES: readonly MetadataSource[] = [
  "cri",
  "docker",
  "podsApi",
  "api",
  "kubelet",
  "downward",
  "environ",
  "cache",
];
const GROUPS: readonly MetadataGroupName[] = [
  "identity",
  "spec",
  "labels",
  "annotations",
  "status",
  "network",
  "owner",
];
const REASONS: readonly FrameReason[] = ["interval", "started", "changed", "ended"];
const PROBLEMS: readonly ProblemCode[] = [
  "denied",
  "timeout",
  "truncated",
  "unsupported",
  "failed",
  "gone",
  "busy",
  "unavailable",
];

const string: JsonSchema = { type: "string" };
const text: JsonSchema = { type: ["string", "null"] };
const flag: JsonSchema = { type: "boolean" };
const time: JsonSchema = { type: "string", format: "date-time" };
const timeOrNull: JsonSchema = { type: ["string", "null"], format: "date-time" };
const count: JsonSchema = { type: "integer", minimum: 0 };
const integerOrNull: JsonSchema = { type: ["integer", "null"] };
const strings: JsonSchema = { type: "array", items: string };
const stringMap: JsonSchema = { type: "object", additionalProperties: string };

function described(description: string, schema: JsonSchema): JsonSchema {
  return { description, ...schema };
}

/** An object of these fields, all required but the optional ones; later additions are allowed, as `/1` only grows. */
function object(
  required: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return { type: "object", required: Object.keys(required), properties: { ...required, ...optional } };
}

function list(ref: string): JsonSchema {
  return { type: "array", items: { $ref: `#/$defs/${ref}` } };
}

const resource = described("Attributes by their OpenTelemetry names; null where known to be absent.", {
  type: "object",
  additionalProperties: { anyOf: [text, strings] },
});

const digests = described("By the crawler's name in the configuration; absent where none works by difference.", {
  type: "object",
  additionalProperties: { $ref: "#/$defs/digest" },
});

const pair = (unit: string, what: string): JsonSchema => {
  const figure: JsonSchema = { type: ["number", "null"], minimum: 0, "x-unit": unit };
  return described(
    `${what}. Desired = specification, current = after a resize; null = none set.`,
    object({ requestDesired: figure, requestCurrent: figure, limitDesired: figure, limitCurrent: figure }),
  );
};

const definitions: Readonly<Record<string, JsonSchema>> = {
  feature: described(
    "One fact. The schema of `value` is that of its type: schema/features/<type>.json.",
    object(
      {
        type: { type: "string", pattern: "^[a-z][a-zA-Z0-9]*$" },
        key: described("Tells instances apart; equals the type where there is one.", string),
        value: {
          type: "object",
          additionalProperties: { anyOf: [{ type: ["string", "number", "boolean", "null"] }, strings] },
        },
      },
      { observedAt: described("Only where the value is older than the frame.", time) },
    ),
  ),
  problem: described(
    "What could not be read, and why. `crawler` is null where the mode or the host failed.",
    object(
      { crawler: text, code: { enum: PROBLEMS }, message: string },
      { count: described("How often, where more than once.", { type: "integer", minimum: 2 }) },
    ),
  ),
  digest: described(
    "What a crawler that works by difference knows: its features stand in the frame where they changed, at first sight, and once in a while.",
    object({
      types: described("Types of the features that it covers.", strings),
      digest: described("Of all of them: equal digests, equal features.", {
        type: "string",
        pattern: "^sha256:[0-9a-f]{64}$",
      }),
      changed: described("They differ from what this agent read before; null at first sight.", {
        type: ["boolean", "null"],
      }),
      included: described("They stand in this frame.", flag),
      observedAt: described("When they were last read, or found unchanged.", time),
    }),
  ),
  termination: object({ reason: text, exitCode: integerOrNull, startedAt: timeOrNull, finishedAt: timeOrNull }),
  state: object({
    status: { enum: ["waiting", "running", "paused", "terminated", "unknown"] },
    reason: text,
    startedAt: timeOrNull,
    finishedAt: timeOrNull,
    exitCode: integerOrNull,
    restarts: { type: ["integer", "null"], minimum: 0 },
    lastTermination: { anyOf: [{ $ref: "#/$defs/termination" }, { type: "null" }] },
  }),
  container: object(
    {
      name: string,
      id: text,
      image: string,
      digest: text,
      type: { enum: ["app", "init", "sidecar", "ephemeral"] },
      state: { $ref: "#/$defs/state" },
      resource,
      resources: {
        anyOf: [object({ cpu: pair("{cpu}", "Cores"), memory: pair("By", "Bytes") }), { type: "null" }],
      },
      features: list("feature"),
      problems: list("problem"),
    },
    { digests },
  ),
  condition: object({ type: string, status: string, reason: text, since: timeOrNull }),
  status: object({
    phase: text,
    reason: text,
    qosClass: text,
    startTime: timeOrNull,
    resourceVersion: text,
    generation: integerOrNull,
    static: flag,
    hostNetwork: { type: ["boolean", "null"] },
    ips: strings,
    conditions: list("condition"),
  }),
  group: described(
    "Where a group of fields comes from, and when that source said so.",
    object({ source: { enum: SOURCES }, observedAt: time }, { declared: strings }),
  ),
};

/** The published schema of the frame's envelope, `schema/frame-v1.json`. Features have schemas of their own. */
export function frameJsonSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:trawler:frame:1",
    title: "Trawler frame, version 1",
    description: "All facts of one subject (a pod, a container or a host) at one time.",
    ...object(
      {
        schema: { const: "trawler.frame/1" },
        id: described("UUID version 7; all parts of a split frame carry the same.", {
          type: "string",
          pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
        }),
        sequence: described("Counts the frames of one subject and agent instance from 1: a gap is a lost frame.", {
          type: "integer",
          minimum: 1,
        }),
        time: described("When the figures were read, UTC with milliseconds.", {
          ...time,
          pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$",
        }),
        observedFor: described("Seconds since the previous frame's figures were read, or since first sight.", {
          type: "number",
          minimum: 0,
          "x-unit": "s",
        }),
        reason: { enum: REASONS },
        final: described("No further frame follows for this subject.", flag),
        agent: object({ instance: string, version: string }),
        kind: { enum: ["pod", "container", "host"] },
        resource,
        labels: stringMap,
        annotations: stringMap,
        status: { anyOf: [{ $ref: "#/$defs/status" }, { type: "null" }] },
        metadata: object({
          complete: flag,
          reason: described("Why it is not complete.", text),
          groups: {
            type: "object",
            properties: Object.fromEntries(GROUPS.map((name) => [name, { $ref: "#/$defs/group" }])),
          },
        }),
        features: list("feature"),
        problems: list("problem"),
        containers: list("container"),
      },
      {
        part: described("Present where a large frame was split.", object({ index: count, count })),
        digests,
      },
    ),
    $defs: definitions,
  };
}
