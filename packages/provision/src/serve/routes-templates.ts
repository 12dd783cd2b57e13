import type { FastifyInstance } from "fastify";
import type { Cluster } from "../cluster/cluster.ts";
import { markRights } from "../dialog/rights.ts";
import type { Creator } from "./create.ts";
import { answer, listOf, planBody, REFUSED } from "./schemas.ts";
import type { Templates } from "./templates.ts";
import type { PlanRequest } from "./types.ts";

export interface TemplateRoutes {
  readonly templates: Templates;
  readonly creator: Creator;
  /** The cluster that is asked what may be created. */
  readonly rights: () => Cluster;
}

interface DialogRequest {
  readonly Params: { readonly name: string };
  readonly Querystring: {
    readonly mode?: "strict" | "compat";
    readonly namespace?: string;
    readonly server?: "true" | "false";
  };
}

export function addTemplates(app: FastifyInstance, { templates, creator, rights }: TemplateRoutes): void {
  const tags = ["templates"];
  const params = { type: "object", properties: { name: { type: "string" } } };
  app.get("/v1/templates", {
    schema: {
      tags,
      summary: "The templates of the catalogue, good and bad ones",
      response: { 200: answer("All of them.", listOf("templates", "Template")), ...REFUSED },
    },
    handler: async () => ({ templates: await templates.list() }),
  });
  app.get<{ Params: { name: string } }>("/v1/templates/:name", {
    schema: {
      tags,
      summary: "One template: what it is, its parameters, what it creates",
      params,
      response: { 200: answer("Its description, and its form.", "Template"), ...REFUSED },
    },
    handler: async ({ params: { name } }) => {
      const { entry, dialog } = await templates.dialog(name, "strict");
      const { fields, creates, message } = dialog;
      return { ...entry, fields, creates, message };
    },
  });
  app.get<DialogRequest>("/v1/templates/:name/dialog", {
    schema: {
      tags,
      summary: "The form of a template: JSON Schema of its answers, and hints of how to show it",
      description:
        "`creates` tells of each kind whether the service's account may create it (`mayCreate`), null where that is not known: in namespaces it is once one is named.",
      params,
      querystring: {
        type: "object",
        additionalProperties: false,
        properties: {
          mode: { type: "string", enum: ["strict", "compat"] },
          namespace: {
            type: "string",
            pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
            description: "Where it is to go.",
          },
          server: { type: "string", enum: ["true", "false"], description: "false: do not ask the cluster." },
        },
      },
      response: { 200: answer("The form.", "Dialog"), ...REFUSED },
    },
    handler: async ({ params: { name }, query: { mode = "strict", namespace = null, server = "true" } }) => {
      const { dialog } = await templates.dialog(name, mode);
      return server === "true" ? await markRights(rights(), dialog, namespace) : dialog;
    },
  });
  app.post<{ Body: PlanRequest }>("/v1/plan", {
    schema: {
      tags,
      summary: "What a template with values would create. Creates nothing",
      body: planBody,
      response: { 200: answer("It could be created, as far as was asked.", "Plan"), ...REFUSED },
    },
    handler: async ({ body }, reply) => {
      const prepared = await templates.prepare(body);
      const { faults, namespace, masked } = prepared;
      const findings = body.server === true ? (await creator.check(body, prepared)).result.findings : [];
      const { objects, ...shown } = masked;
      // The objects are JSON already, and may be many.
      const rest = JSON.stringify({ ...shown, namespace, faults, findings });
      return reply.type("application/json").send(`{"objects":${objects},${rest.slice(1)}`);
    },
  });
}
