import type { FastifyInstance } from "fastify";
import type { Creator } from "./create.ts";
import { sendEvents } from "./events.ts";
import type { Instances } from "./instances.ts";
import { Refusal } from "./refusal.ts";
import { answer, createBody, INSTANCE_PATTERN, listOf, REFUSED } from "./schemas.ts";
import type { CreateRequest } from "./types.ts";

export interface InstanceRoutes {
  readonly creator: Creator;
  readonly instances: Instances;
  /** Aborts when the service stops. */
  readonly signal: AbortSignal;
}

interface EventsRequest {
  readonly Params: { readonly instance: string };
  readonly Querystring: { readonly follow?: "true" | "false" };
  readonly Headers: { readonly "last-event-id"?: string };
}

const MOST_READERS = 64;
const PAGE = 50;
const named = {
  type: "object",
  required: ["instance"],
  properties: { instance: { type: "string", pattern: INSTANCE_PATTERN, description: "Its id, or the beginning." } },
};

export function addInstances(app: FastifyInstance, { creator, instances, signal }: InstanceRoutes): void {
  const tags = ["instances"];
  let readers = 0;
  app.post<{ Body: CreateRequest; Headers: { "idempotency-key"?: string } }>("/v1/instances", {
    schema: {
      tags,
      summary: "Create the objects of a template. Answers once all is checked and written down",
      description:
        "The same request with the same Idempotency-Key (or the same instance) makes no second instance. Nothing was created where it is refused.",
      headers: {
        type: "object",
        properties: { "idempotency-key": { type: "string", minLength: 1, maxLength: 255 } },
      },
      body: createBody,
      response: {
        200: answer("An earlier request began it.", "Accepted"),
        202: answer("It is begun.", "Accepted"),
        ...REFUSED,
      },
    },
    handler: async ({ body, headers }, reply) => {
      const accepted = await creator.create(body, headers["idempotency-key"] ?? null);
      const location = `/v1/instances/${accepted.instance}`;
      return reply
        .code(accepted.begun ? 202 : 200)
        .header("location", location)
        .send(accepted);
    },
  });
  app.get<{ Querystring: { limit?: string; before?: string } }>("/v1/instances", {
    schema: {
      tags,
      summary: "The runs that this service knows, newest first",
      querystring: {
        type: "object",
        additionalProperties: false,
        properties: {
          limit: {
            type: "string",
            pattern: "^([1-9]|[1-9]\\d|[1-4]\\d\\d|500)$",
            description: "1 to 500; default 50.",
          },
          before: { type: "string", pattern: INSTANCE_PATTERN, description: "`next` of the page before." },
        },
      },
      response: {
        200: answer("A page.", listOf("instances", "Instance", { next: { type: ["string", "null"] } })),
        ...REFUSED,
      },
    },
    handler: async ({ query: { limit, before } }) => instances.list(Number(limit ?? PAGE), before ?? null),
  });
  app.get<{ Params: { instance: string } }>("/v1/instances/:instance", {
    schema: {
      tags,
      summary: "The report of a run: type, id and state of every object",
      params: named,
      response: { 200: answer("The report.", "Report"), ...REFUSED },
    },
    handler: async ({ params }) => instances.report(params.instance),
  });
  app.get<EventsRequest>("/v1/instances/:instance/events", {
    schema: {
      tags,
      summary: "What a run does, as server-sent events: log, object, state, and end once it is over",
      description: "Last-Event-ID goes on behind the event of that id. 204 where it is over and all was read.",
      params: named,
      querystring: {
        type: "object",
        additionalProperties: false,
        properties: { follow: { enum: ["true", "false"], description: "false: what is there now, and no more." } },
      },
      headers: { type: "object", properties: { "last-event-id": { type: "string", pattern: "^\\d{1,15}$" } } },
      response: {
        200: { description: "Events.", content: { "text/event-stream": { schema: { type: "string" } } } },
        204: { description: "There are no more.", type: "null" },
        ...REFUSED,
      },
    },
    handler: async ({ params, query, headers }, reply) => {
      if (readers >= MOST_READERS) {
        throw new Refusal(429, { code: "TRAWLER_LIMIT", message: "too many readers of events" }, 5);
      }
      using journal = instances.open(params.instance, true);
      const { instance } = journal.run;
      const after = Number(headers["last-event-id"] ?? 0);
      const { running } = instances.report(instance);
      if (after > 0 && !running && journal.events(after, 1).length === 0) return reply.code(204).send();
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      reply.hijack();
      readers++;
      try {
        reply.raw.writeHead(200, {
          "content-type": "text/event-stream",
          "cache-control": "no-store",
          "x-accel-buffering": "no",
        });
        const active = (): boolean => instances.isActive(instance);
        const follow = query.follow !== "false";
        await sendEvents(reply.raw, { journal, after, follow, active, signal: AbortSignal.any([signal, gone.signal]) });
      } finally {
        readers--;
        reply.raw.end();
      }
      return reply;
    },
  });
  const act = (action: "cancel" | "resume" | "rollback" | "retire", summary: string): void => {
    app.post<{ Params: { instance: string } }>(`/v1/instances/:instance/${action}`, {
      schema: {
        tags,
        summary,
        params: named,
        response: {
          200: answer("There is nothing to do.", "Accepted"),
          202: answer("It will be done; the report says when it is.", "Accepted"),
          ...REFUSED,
        },
      },
      handler: async ({ params }, reply) => {
        const accepted =
          action === "cancel" ? instances.cancel(params.instance) : instances.ask(params.instance, action);
        return reply.code(accepted.begun ? 202 : 200).send(accepted);
      },
    });
  };
  act("cancel", "Stop a run as a failure would; one that was cut off is rolled back");
  act("resume", "Go on with a run that left objects out");
  act("rollback", "Remove what a run that did not succeed has left");
  act("retire", "Remove all that a run made");
}
