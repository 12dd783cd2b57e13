import type { FastifyInstance } from "fastify";
import { maskTemplate, placed } from "../template/mask.ts";
import type { Creator } from "./create.ts";
import { answer, listOf, planBody, REFUSED } from "./schemas.ts";
import type { Templates } from "./templates.ts";
import type { PlanRequest } from "./types.ts";

export interface TemplateRoutes {
  readonly templates: Templates;
  readonly creator: Creator;
}

export function addTemplates(app: FastifyInstance, { templates, creator }: TemplateRoutes): void {
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
      const { entry } = await templates.find(name);
      const { fields, creates, message } = await templates.dialog(name, "strict");
      return { ...entry, fields, creates, message };
    },
  });
  app.get<{ Params: { name: string }; Querystring: { mode?: "strict" | "compat" } }>("/v1/templates/:name/dialog", {
    schema: {
      tags,
      summary: "The form of a template: JSON Schema of its answers, and hints of how to show it",
      params,
      querystring: {
        type: "object",
        additionalProperties: false,
        properties: { mode: { type: "string", enum: ["strict", "compat"] } },
      },
      response: { 200: answer("The form.", "Dialog"), ...REFUSED },
    },
    handler: ({ params: { name }, query: { mode = "strict" } }) => templates.dialog(name, mode),
  });
  app.post<{ Body: PlanRequest }>("/v1/plan", {
    schema: {
      tags,
      summary: "What a template with values would create. Creates nothing",
      body: planBody,
      response: { 200: answer("It could be created, as far as was asked.", "Plan"), ...REFUSED },
    },
    handler: async ({ body }) => {
      const prepared = await templates.prepare(body);
      const { template, faults, namespace } = prepared;
      const { objects, parameters, message } = maskTemplate(template);
      const findings = body.server === true ? (await creator.check(body, prepared)).result.findings : [];
      return { message, namespace, objects: objects.map(placed), parameters, faults, findings };
    },
  });
}
