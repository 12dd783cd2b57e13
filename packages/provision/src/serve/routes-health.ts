import type { FastifyInstance } from "fastify";

export interface HealthOptions {
  /** Null = ready, else why not. */
  readonly unready: () => string | null;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
}

export function addHealth(app: FastifyInstance, { unready, metrics }: HealthOptions): void {
  const plain = "text/plain; charset=utf-8";
  const schema = (summary: string): object => ({ tags: ["service"], summary, security: [] });
  app.get("/healthz", { schema: schema("The process answers"), handler: (_, reply) => reply.type(plain).send("ok\n") });
  app.get("/readyz", {
    schema: schema("It takes requests; 503 says why not"),
    handler: (_, reply) => {
      const reason = unready();
      const text = reason === null ? "ready\n" : `not ready: ${reason}\n`;
      return reply
        .code(reason === null ? 200 : 503)
        .type(plain)
        .send(text);
    },
  });
  app.get("/metrics", {
    schema: schema("Figures, as Prometheus reads them"),
    handler: async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()),
  });
  app.get("/openapi.json", {
    schema: { ...schema("This description"), hide: true },
    handler: (_, reply) => reply.type("application/json").send(app.swagger()),
  });
}
