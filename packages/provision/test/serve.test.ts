import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createApiClient, tokenTarget } from "@trawler/kube";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newInstance } from "../src/journal/instance.ts";
import { parseJson } from "../src/json.ts";
import { TemplateWork } from "../src/serve/template-work.ts";
import { toYaml } from "../src/yaml.ts";
import { Serving, TOKEN, templateOf, until, WITH_SECRET } from "./serving.ts";

let serving: Serving;
beforeEach(async () => {
  serving = await Serving.open();
});
afterEach(() => serving[Symbol.asyncDispose]());

const create = (names: readonly string[], more: object = {}): object => ({
  template: { source: templateOf(names), file: "shop.json" },
  namespace: "shop",
  ...more,
});
const ended = async (instance: unknown): Promise<Record<string, unknown>> => {
  let report: Record<string, unknown> = {};
  await until(async () => {
    report = (await serving.request("GET", `/v1/instances/${instance}`)).body;
    return report["endedAt"] !== null && report["running"] === false;
  });
  return report;
};

test("an instance is accepted at once and comes to its end: type, uid and state of every object, in order", async () => {
  const accepted = await serving.request("POST", "/v1/instances", create(["a", "b", "c"]));
  expect([accepted.status, accepted.body["state"]]).toEqual([202, "PENDING"]);
  expect(accepted.headers.get("location")).toBe(`/v1/instances/${accepted.body["instance"]}`);
  const report = await ended(accepted.body["instance"]);
  expect(report["state"]).toBe("SUCCEEDED");
  expect(report["objects"]).toMatchObject(
    ["a", "b", "c"].map((name) => ({ name, status: "created", uid: expect.stringMatching(/^uid-/) })),
  );
  const list = await serving.request("GET", "/v1/instances");
  expect(list.body["instances"]).toMatchObject([{ state: "SUCCEEDED", objects: 3, running: false, template: "shop" }]);
});

test("without the token nothing is told: not what exists, not what does not; health, metrics and the description are open", async () => {
  for (const authorization of ["", "Bearer", `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, "Bearer é"]) {
    for (const path of ["/v1/instances", "/v1/templates", "/nothing", "/v1/instances/0123/events"]) {
      const answer = await fetch(
        `${serving.url}${path}`,
        authorization === "Bearer é" ? {} : { headers: { authorization } },
      );
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      expect(await answer.json()).toEqual({ code: "TRAWLER_DENIED", message: expect.any(String) });
    }
  }
  for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json"]) {
    expect((await fetch(`${serving.url}${path}`)).status).toBe(200);
  }
  expect(serving.lines.join()).not.toContain(TOKEN);
});

test("P19: the same instance or key again, also at the same time, makes no second one; another request with it is refused", async () => {
  const instance = newInstance(Date.now());
  const [first, second] = await Promise.all([
    serving.request("POST", "/v1/instances", create(["a"], { instance })),
    serving.request("POST", "/v1/instances", create(["a"], { instance })),
  ]);
  expect([first.status, second.status].toSorted()).toEqual([200, 202]);
  await ended(instance);
  const third = await serving.request("POST", "/v1/instances", create(["a"], { instance }));
  expect([third.status, third.body]).toMatchObject([200, { instance, begun: false, state: "SUCCEEDED" }]);
  const other = await serving.request("POST", "/v1/instances", create(["b"], { instance }));
  expect([other.status, other.body["code"]]).toEqual([409, "TRAWLER_REFUSED"]);
  const key = { "idempotency-key": "order 17" };
  const keyed = await serving.request("POST", "/v1/instances", create(["k"]), key);
  const again = await serving.request("POST", "/v1/instances", create(["k"]), key);
  expect([keyed.status, again.status, again.body["instance"]]).toEqual([202, 200, keyed.body["instance"]]);
  expect((await serving.request("POST", "/v1/instances", create(["l"]), key)).status).toBe(409);
  await ended(keyed.body["instance"]);
  expect(serving.cluster.made).toEqual(["shop/a", "shop/k"]);
});

test("P1: what is wrong is told all at once, with line and column, and nothing is created", async () => {
  const source = `kind: Template\napiVersion: v1\nparameters:\n- name: A\n  required: true\n- name: B\n  required: true\nobjects: []\n`;
  const faulty = await serving.request("POST", "/v1/instances", { template: { source }, values: { AA: "1" } });
  expect(faulty.status).toBe(422);
  const line = (code: string, at: number | null): object => ({ code, line: at });
  expect(faulty.body["faults"]).toMatchObject([
    line("VALUE_UNKNOWN", null),
    line("PARAMETER_REQUIRED", 4),
    line("PARAMETER_UNUSED", 4),
    line("PARAMETER_REQUIRED", 6),
    line("PARAMETER_UNUSED", 6),
  ]);
  const unknown = { apiVersion: "v1", kind: "Nothing", metadata: { name: "n" } };
  const refused = await serving.request("POST", "/v1/instances", {
    template: { source: templateOf([], { objects: [unknown] }) },
    namespace: "shop",
  });
  expect([refused.status, refused.body["code"]]).toEqual([422, "TRAWLER_REFUSED"]);
  expect(refused.body["findings"]).toMatchObject([{ check: "kind", severity: "error" }]);
  const wrong = await serving.request("POST", "/v1/instances", {
    template: {},
    values: { A: 1 },
    settings: { parallel: 65 },
    x: 1,
  });
  expect([wrong.status, wrong.body["code"]]).toEqual([400, "TRAWLER_CONFIG_INVALID"]);
  const paths = JSON.stringify(wrong.body["answers"]);
  for (const path of ["/template", "/values/A", "/settings/parallel", "additional properties: x"])
    expect(paths).toContain(path);
  expect((await serving.request("POST", "/v1/instances", "{")).status).toBe(400);
  expect((await serving.request("POST", "/v1/instances", "a: b", { "content-type": "text/yaml" })).status).toBe(415);
  expect((await serving.request("POST", "/v1/instances", `"${"x".repeat(11 * 1024 ** 2)}"`)).status).toBe(413);
  expect(serving.cluster.writes).toEqual([]);
  expect((await serving.request("GET", "/v1/instances")).body["instances"]).toEqual([]);
});

test("plan creates nothing and masks secrets; with server the cluster is asked too", async () => {
  const request = {
    template: { source: templateOf([], WITH_SECRET) },
    values: { PASSWORD: "sWordfish-42" },
    namespace: "shop",
  };
  for (const server of [false, true]) {
    const plan = await serving.request("POST", "/v1/plan", { ...request, server });
    expect([plan.status, plan.body["findings"]]).toEqual([200, []]);
    expect(plan.body["objects"]).toMatchObject([
      { kind: "Secret" },
      { kind: "ConfigMap", metadata: { namespace: "shop" } },
    ]);
    expect(plan.text).not.toContain("sWordfish");
  }
  expect(serving.cluster.writes).toEqual([]);
});

test("C5: a secret value is in no log, answer, event, notification, description or file; at the end its key is destroyed", async () => {
  await serving.stop();
  const told: string[] = [];
  const send = async (notification: object) => {
    told.push(JSON.stringify(notification));
    return { ok: true } as const;
  };
  await serving.start({ notifiers: [{ name: "log", send }] });
  const canary = 'sWordfish-42 "x"/ü';
  // As a server quotes what it objects to, in each form that a value can have.
  const forms = [canary, JSON.stringify(canary), encodeURIComponent(canary), Buffer.from(canary).toString("base64")];
  const message = `c is refused: ${[...forms, JSON.stringify(JSON.stringify(canary))].join(" | ")}`;
  const refusal = { reason: "Invalid", message, details: { causes: [{ field: "data.url", message }] } };
  serving.cluster.interfere = (method, path, dryRun) =>
    method === "POST" && path.endsWith("/configmaps") && (!dryRun || judged) ? [422, refusal] : undefined;
  let judged = true;
  const request = {
    template: { source: templateOf([], WITH_SECRET), file: "shop.json" },
    values: { PASSWORD: canary },
    namespace: "shop",
  };
  const ask = async (method: string, path: string, body?: object): Promise<string> =>
    (await serving.request(method, path, body)).text;
  const texts = [
    await ask("POST", "/v1/instances", request),
    await ask("POST", "/v1/plan", { ...request, server: true }),
    await ask("POST", "/v1/plan", { ...request, values: { ...request.values, PASWORD: canary } }),
    await ask("POST", "/v1/instances", { ...request, values: { PASSWORD: [canary] } }),
    await ask("POST", "/v1/instances", { ...request, answers: { parameters: { PASSWORD: [canary] } } }),
  ];
  expect(texts[0]).toContain("c is refused");
  judged = false;
  for (const rollback of [null, "never"]) {
    const accepted = await serving.request("POST", "/v1/instances", { ...request, settings: { rollback } });
    const { instance } = accepted.body;
    const report = await ended(instance);
    expect(report["state"]).toBe(rollback === null ? "FAILED" : "PARTIAL");
    texts.push(accepted.text, JSON.stringify(report), ...(await files()));
    for (const action of ["resume", "cancel", "rollback", "retire"]) {
      texts.push(await ask("POST", `/v1/instances/${instance}/${action}`));
      await ended(instance);
    }
    texts.push(await ask("GET", `/v1/instances/${instance}/events`));
  }
  for (const path of ["/v1/instances", "/openapi.json", "/metrics", "/readyz"]) texts.push(await ask("GET", path));
  await until(() => told.length >= 2);
  const everything = [...texts, ...told, ...serving.lines, ...(await files())].join("\n");
  expect(everything).toContain("c is refused");
  expect(told.join()).toContain("c is refused");
  expect(everything).not.toMatch(/sWordfish|c1dvcmRmaXNo|fish-42/);
});

async function files(): Promise<readonly string[]> {
  const folder = join(serving.folder, "runs");
  return Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "latin1")));
}

test("cancel undoes what was made; rollback, retire and resume say what they would do, and 404, 409 where they cannot", async () => {
  const go = Promise.withResolvers<void>();
  serving.cluster.gate = (name) => (name === "b" ? go.promise : undefined);
  const { instance } = (
    await serving.request("POST", "/v1/instances", create(["a", "b", "c"], { settings: { parallel: 1 } }))
  ).body;
  await until(() => serving.cluster.made.length === 1);
  expect((await serving.request("POST", `/v1/instances/${instance}/rollback`)).status).toBe(409);
  const cancelled = await serving.request("POST", `/v1/instances/${instance}/cancel`);
  expect([cancelled.status, cancelled.body["instance"]]).toEqual([202, instance]);
  go.resolve();
  expect(await ended(instance)).toMatchObject({ state: "FAILED", rollback: "complete", headline: "cancelled" });
  expect(serving.cluster.objects.size).toBe(0);
  expect((await serving.request("POST", `/v1/instances/${instance}/cancel`)).status).toBe(200);
  const good = (await serving.request("POST", "/v1/instances", create(["d"]))).body["instance"];
  await ended(good);
  expect((await serving.request("POST", `/v1/instances/${good}/rollback`)).status).toBe(409);
  expect((await serving.request("POST", `/v1/instances/${good}/retire`)).status).toBe(202);
  await until(async () => (await ended(good))["state"] === "RETIRED");
  expect((await serving.request("POST", `/v1/instances/${good}/retire`)).status).toBe(200);
  for (const action of ["cancel", "resume", "rollback", "retire"]) {
    expect((await serving.request("POST", `/v1/instances/0123456789abcdefghjkmnpqrs/${action}`)).status).toBe(404);
  }
  expect((await serving.request("GET", "/v1/instances/..%2f..%2fetc")).status).toBe(400);
});

test("a cancellation that comes too late to stop anything is no failure, and is not told as one", async () => {
  const go = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  serving.cluster.gate = () => {
    reached.resolve();
    return go.promise;
  };
  const { instance } = (await serving.request("POST", "/v1/instances", create(["a"]))).body;
  await reached.promise;
  expect((await serving.request("POST", `/v1/instances/${instance}/cancel`)).status).toBe(202);
  go.resolve();
  expect(await ended(instance)).toMatchObject({ state: "SUCCEEDED", headline: null, rollback: "notNeeded" });
});

test("a cluster that is away: 503, come again, and the same instance may be asked for again", async () => {
  const instance = newInstance(Date.now());
  await serving.stop();
  const client = createApiClient({ target: tokenTarget({ server: "http://127.0.0.1:1" }) });
  await serving.start({ client });
  for (const path of ["/v1/instances", "/v1/plan"]) {
    const body = path === "/v1/plan" ? create(["a"], { server: true }) : create(["a"], { instance });
    const away = await serving.request("POST", path, body);
    expect([away.status, away.body["code"], away.headers.get("retry-after")]).toEqual([
      503,
      "TRAWLER_UNAVAILABLE",
      "5",
    ]);
  }
  await serving.stop();
  await serving.start();
  expect((await serving.request("POST", "/v1/instances", create(["a"], { instance }))).status).toBe(202);
  expect((await ended(instance))["state"]).toBe("SUCCEEDED");
});

test("P23: a running inventory is told of what was made; one that should be there and is not holds up no run", async () => {
  const told: string[] = [];
  const inventory = {
    follows: () => true,
    refresh: async ({ name }: { readonly name: string }) => {
      told.push(name);
      return null;
    },
  };
  await serving.stop();
  await serving.start({ inventory: async () => inventory });
  const first = (await serving.request("POST", "/v1/instances", create(["a", "b"]))).body["instance"];
  expect((await ended(first))["state"]).toBe("SUCCEEDED");
  expect(told.toSorted()).toEqual(["a", "b"]);
  await serving.stop();
  await serving.start({ inventory: () => Promise.reject(new Error("no inventory runs")) });
  const second = (await serving.request("POST", "/v1/instances", create(["c"]))).body["instance"];
  expect((await ended(second))["state"]).toBe("SUCCEEDED");
  expect(serving.lines.join()).toContain("no inventory runs");
});

test("a PARTIAL run is gone on with, or rolled back", async () => {
  serving.cluster.refuse = (name) => (name === "b" ? 422 : undefined);
  const settings = { rollback: "never", parallel: 1 };
  const first = (await serving.request("POST", "/v1/instances", create(["a", "b"], { settings }))).body["instance"];
  expect(await ended(first)).toMatchObject({ state: "PARTIAL", leftovers: [{ name: "a" }] });
  serving.cluster.refuse = () => undefined;
  expect((await serving.request("POST", `/v1/instances/${first}/resume`)).status).toBe(202);
  await until(async () => (await ended(first))["state"] === "SUCCEEDED");
  expect(serving.cluster.made).toEqual(["shop/a", "shop/b"]);
});

test("as many runs at a time as are allowed, the others wait in their order; beyond that: try again later", async () => {
  await serving.stop();
  await serving.start({ concurrent: 1, waiting: 1 });
  const go = Promise.withResolvers<void>();
  serving.cluster.gate = () => go.promise;
  const answers = [];
  for (const name of ["a", "b", "c"]) answers.push(await serving.request("POST", "/v1/instances", create([name])));
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 429]);
  expect(answers[2]?.headers.get("retry-after")).toBe("10");
  expect(serving.service.status()).toMatchObject({ running: 1, waiting: 1 });
  go.resolve();
  for (const { body } of answers.slice(0, 2)) expect((await ended(body["instance"]))["state"]).toBe("SUCCEEDED");
  expect(serving.cluster.made).toEqual(["shop/a", "shop/b"]);
});

test("P20: a service that stops leaves its runs as they are; the next one goes on, and makes nothing twice", async () => {
  const hold = Promise.withResolvers<void>();
  let held = true;
  serving.cluster.gate = (name) => (held && name === "c" ? hold.promise : undefined);
  const { instance } = (
    await serving.request("POST", "/v1/instances", create(["a", "b", "c", "d"], { settings: { parallel: 1 } }))
  ).body;
  const queued = (await serving.request("POST", "/v1/instances", create(["e"]))).body["instance"];
  await until(() => serving.cluster.made.length >= 2);
  await serving.stop();
  held = false;
  hold.resolve();
  expect(serving.cluster.writes.filter((line) => line.startsWith("DELETE"))).toEqual([]);
  await serving.start();
  expect(await ended(instance)).toMatchObject({ state: "SUCCEEDED" });
  expect(await ended(queued)).toMatchObject({ state: "SUCCEEDED" });
  expect(serving.cluster.made.toSorted()).toEqual(["shop/a", "shop/b", "shop/c", "shop/d", "shop/e"]);
});

test("a template that takes a second to read holds up nobody: health and events answer meanwhile", async () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `big-${at}`);
  const objects = names.map((name) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, labels: { part: name } },
    data: Object.fromEntries(
      Array.from({ length: 24 }, (_, at) => [`setting-${at}`, `\${A} is the ${at}th setting of ${name}`]),
    ),
  }));
  const source = toYaml(parseJson(templateOf([], { objects })));
  expect(source.length).toBeGreaterThan(1.2 * 1024 ** 2);
  const { instance } = (await serving.request("POST", "/v1/instances", create(["small"]))).body;
  await ended(instance);
  let planned = false;
  const plan = serving.request("POST", "/v1/plan", { template: { source }, namespace: "shop" }).then((answer) => {
    planned = true;
    return answer;
  });
  let meanwhile = 0;
  while (!planned) {
    const [health, events] = await Promise.all([
      fetch(`${serving.url}/healthz`),
      serving.request("GET", `/v1/instances/${instance}/events`),
    ]);
    expect([health.status, events.status, events.text.includes("event: end")]).toEqual([200, 200, true]);
    if (!planned) meanwhile++;
  }
  const answer = await plan;
  expect([answer.status, answer.body["objects"]]).toMatchObject([200, { length: 1_000 }]);
  // Were it read where requests are answered, not one would have been.
  expect(meanwhile).toBeGreaterThan(0);
});

test("as many templates are read at a time as are allowed; one that takes too long is refused, and the next one is read", async () => {
  await serving.stop();
  await serving.start({ reading: { threads: 1, waiting: 1, timeout: 1 } });
  const slow = await serving.request("POST", "/v1/plan", create(["a"]));
  expect([slow.status, slow.body["code"]]).toEqual([422, "TRAWLER_LIMIT"]);
  await using work = new TemplateWork({ threads: 1, waiting: 1 });
  const text = templateOf(["a"]);
  const read = () => work.run("list", [{ file: "a.json", text }]);
  const [first, second, third] = await Promise.allSettled([read(), read(), read()]);
  expect([first.status, second.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(third).toMatchObject({ status: "rejected", reason: { status: 429, body: { code: "TRAWLER_LIMIT" } } });
  expect(await read()).toMatchObject([{ name: "shop", objects: 1 }]);
});

test("a body of very many values is refused before it is read", async () => {
  const answers = `[${"0,".repeat(60_000)}0]`;
  const body = `{"template":{"source":"x"},"answers":{"a":${answers}}}`;
  const answer = await serving.request("POST", "/v1/plan", body);
  expect([answer.status, answer.body["code"]]).toEqual([413, "TRAWLER_LIMIT"]);
  const commas = JSON.stringify({ template: { source: `${',[{\\"'.repeat(60_000)}` } });
  expect((await serving.request("POST", "/v1/plan", commas)).status).toBe(422);
});
