/** JSON Schemas of what the service takes and gives: they check requests, and they are its OpenAPI description. */

const text = { type: "string" } as const;
const textOrNull = { type: ["string", "null"] } as const;
const flag = { type: "boolean" } as const;
const name = { type: "string", maxLength: 253 } as const;
const milliseconds = { type: "integer", minimum: 1, maximum: 86_400_000, description: "Milliseconds." } as const;
const list = (items: object): object => ({ type: "array", items });
const open = { type: "object", additionalProperties: true } as const;
const states = ["PENDING", "CREATING", "WAITING", "ROLLING_BACK", "SUCCEEDED", "PARTIAL", "FAILED", "RETIRED"];

const template = {
  description: "A template of the catalogue by its name, or the text of one.",
  oneOf: [
    { type: "object", required: ["name"], additionalProperties: false, properties: { name } },
    {
      type: "object",
      required: ["source"],
      additionalProperties: false,
      properties: {
        source: { type: "string", description: "YAML or JSON." },
        file: { type: "string", maxLength: 1024, description: "What the text is called in faults." },
      },
    },
  ],
};

const templateRequest = {
  template,
  mode: { type: "string", enum: ["strict", "compat"], description: "How it is processed; default strict." },
  values: {
    type: "object",
    additionalProperties: text,
    description: "Values of parameters, as texts. One that is given replaces default and generator.",
  },
  answers: {
    ...open,
    description: "Answers of the template's form (target, parameters, empty), instead of values and namespace.",
  },
  ignoreUnknownParameters: { ...flag, description: "Drop values of names that the template does not have." },
  namespace: { ...name, description: "Where objects go that the template gives no namespace." },
  createNamespace: { ...flag, description: "Make that namespace too." },
  existing: {
    type: "string",
    enum: ["fail", "skip", "adopt-if-ours"],
    description: "Where an object exists already; default fail.",
  },
  order: { type: "string", enum: ["kind", "template"], description: "Order of creation; default kind." },
  dryRun: { ...flag, description: "Have the server judge the objects first; default true." },
};

const settings = {
  type: "object",
  additionalProperties: false,
  properties: {
    until: { type: "string", enum: ["created", "inventory", "ready"] },
    rollback: { type: ["string", "null"], enum: ["auto", "deep", "never", null] },
    parallel: { type: "integer", minimum: 1, maximum: 64 },
    keepGoing: flag,
    keepData: flag,
    createTimeout: milliseconds,
    readyTimeout: milliseconds,
    rollbackTimeout: milliseconds,
  },
};

export const INSTANCE_PATTERN = "^[0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{4,26}$";

/** Named ones, for `$ref`. */
export const SHARED: readonly { readonly $id: string; readonly [keyword: string]: unknown }[] = [
  {
    $id: "Error",
    type: "object",
    required: ["code", "message"],
    properties: {
      code: { type: "string", description: "TRAWLER_…, for programs." },
      message: { type: "string", description: "One line for people." },
      faults: { ...list(open), description: "Of the template and its values: message, line, column, path." },
      answers: { ...list(open), description: "Of the answers of a form, or of the request: path, message." },
      findings: { ...list(open), description: "Of the cluster: severity, check, message." },
    },
  },
  {
    $id: "Template",
    type: "object",
    properties: {
      file: text,
      name: textOrNull,
      displayName: textOrNull,
      description: textOrNull,
      parameters: { type: "integer" },
      objects: { type: "integer" },
      digest: text,
      faults: list(open),
    },
  },
  {
    $id: "Dialog",
    type: "object",
    description: "A form: `schema` is JSON Schema (2020-12) of its answers, `ui` hints of how to show it.",
    properties: {
      title: text,
      description: textOrNull,
      digest: text,
      fields: list(open),
      schema: open,
      ui: open,
      creates: list(open),
      namespaces: { type: ["array", "null"], items: text, description: "To choose from, where they may be listed." },
      message: textOrNull,
    },
  },
  {
    $id: "Plan",
    type: "object",
    description: "What a template would create. Secrets are masked.",
    properties: {
      message: textOrNull,
      namespace: textOrNull,
      objects: list(open),
      parameters: list(open),
      faults: list(open),
      findings: { ...list(open), description: "What the cluster says, where it was asked." },
    },
  },
  {
    $id: "Instance",
    type: "object",
    description: "A run without its objects.",
    properties: {
      instance: text,
      template: textOrNull,
      namespace: textOrNull,
      state: { type: "string", enum: states },
      running: { ...flag, description: "Somebody works on it, or will when its turn comes." },
      objects: { type: "integer" },
      headline: textOrNull,
      createdAt: text,
      endedAt: textOrNull,
    },
  },
  {
    $id: "Report",
    type: "object",
    description: "All that is known of a run; `objects` in the order of the template, with type, uid and state.",
    additionalProperties: true,
    properties: {
      instance: text,
      template: textOrNull,
      digest: text,
      namespace: textOrNull,
      server: text,
      createdAt: text,
      endedAt: textOrNull,
      state: { type: "string", enum: states },
      running: flag,
      settings: open,
      headline: textOrNull,
      rollback: { type: "string", enum: ["notNeeded", "notRequested", "complete", "incomplete"] },
      leftovers: list(open),
      evidence: list(open),
      warnings: list(text),
      objects: list(open),
    },
  },
  {
    $id: "Accepted",
    type: "object",
    properties: {
      instance: text,
      state: { type: "string", enum: states },
      begun: { ...flag, description: "False where an earlier request did it." },
      event: { type: "integer", description: "The last event of its log: to follow what comes, go on from there." },
      message: textOrNull,
    },
  },
];

export const planBody: object = {
  type: "object",
  required: ["template"],
  additionalProperties: false,
  properties: { ...templateRequest, server: { ...flag, description: "Ask the cluster too. Nothing is created." } },
};

export const createBody: object = {
  type: "object",
  required: ["template"],
  additionalProperties: false,
  properties: {
    ...templateRequest,
    instance: {
      type: "string",
      pattern: "^[0-9a-hjkmnp-tv-z]{26}$",
      description: "A ULID in lower case that the client made: the same request again makes no second instance.",
    },
    settings,
  },
};

const ref = (name: string): object => ({ $ref: `${name}#` });
const problem = { description: "Refused.", content: { "application/json": { schema: ref("Error") } } };
export const REFUSED: Readonly<Record<string, object>> = { "4xx": problem, "5xx": problem };

/** An answer with a shared schema, for a route's `response`. */
export function answer(description: string, schema: string | object): object {
  const body = typeof schema === "string" ? ref(schema) : schema;
  return { description, content: { "application/json": { schema: body } } };
}

export function listOf(key: string, name: string, more: object = {}): object {
  return { type: "object", properties: { [key]: { type: "array", items: ref(name) }, ...more } };
}
