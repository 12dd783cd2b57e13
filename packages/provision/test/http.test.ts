import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { createApiClient, tokenTarget } from "@trawler/kube";
import { expect, test } from "vitest";
import { isAuthorized, isLocalProgram, isLoopback, tokenOf } from "../src/serve/auth.ts";
import { Serving, TOKEN, templateOf, until } from "./serving.ts";

interface Sent {
  readonly status: number | undefined;
  readonly text: string;
  /** Serial number of the server's certificate. */
  readonly serial: string;
}

/** A request that nothing is kept open for. */
function send(url: string, headers: Readonly<Record<string, string>>, ca?: string, method = "GET"): Promise<Sent> {
  const { promise, resolve, reject } = Promise.withResolvers<Sent>();
  const options = { method, headers, agent: false, ...(ca !== undefined && { ca }) } as const;
  const outgoing = (url.startsWith("https:") ? httpsRequest : httpRequest)(url, options, async (response) => {
    const socket = response.socket as TLSSocket;
    const serial = url.startsWith("https:") ? socket.getPeerCertificate().serialNumber : "";
    resolve({ status: response.statusCode, text: await text(response), serial });
  });
  outgoing.on("error", reject).end();
  return promise;
}

function makeCertificate(folder: string, name: string): { readonly certificate: string; readonly key: string } {
  const [certificate, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
      ...["-subj", "/CN=provision", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
    ],
    { stdio: "ignore" },
  );
  return { certificate, key };
}

test("a token has 16 or more visible characters; it is compared whole, and nothing else is let in", () => {
  expect(tokenOf(` ${TOKEN}\n`, "file")).toBe(TOKEN);
  for (const wrong of ["", "short", "with a blank in the middle", "ümlaut-is-not-ascii-text"]) {
    expect(() => tokenOf(wrong, "the file")).toThrow(/^the file holds no usable token/);
  }
  expect(isAuthorized(`Bearer ${TOKEN}`, TOKEN)).toBe(true);
  expect(isAuthorized(`bearer  ${TOKEN}`, TOKEN)).toBe(true);
  for (const wrong of [
    undefined,
    "",
    "Bearer ",
    TOKEN,
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN} x`,
    `Basic ${TOKEN}`,
  ]) {
    expect(isAuthorized(wrong, TOKEN)).toBe(false);
  }
  expect(["127.0.0.1", "127.9.9.9", "::1", "localhost"].every(isLoopback)).toBe(true);
  expect(["0.0.0.0", "::", "10.0.0.1", "127.example.test", ""].some(isLoopback)).toBe(false);
});

test("it does not start open to all: no token needs loopback and an explicit wish", async () => {
  await using serving = await Serving.open();
  await serving.stop();
  for (const wrong of [
    { token: null },
    { token: null, insecureNoToken: true, address: "0.0.0.0" },
    { token: { text: "short" } },
    { token: { file: "/does/not/exist" } },
    { tls: { certificate: join(serving.folder, "token"), key: join(serving.folder, "token") } },
  ]) {
    await expect(serving.start(wrong)).rejects.toMatchObject({ code: "TRAWLER_CONFIG_INVALID" });
  }
  await serving.start({ token: null, insecureNoToken: true });
  expect((await fetch(`${serving.url}/v1/instances`)).status).toBe(200);
});

test("without a token web pages are not served: neither by their origin, nor under a name of theirs", async () => {
  await using serving = await Serving.open({ token: null, insecureNoToken: true });
  const url = `${serving.url}/v1/instances`;
  const status = async (headers: Readonly<Record<string, string>>, method = "GET") =>
    (await send(url, headers, undefined, method)).status;
  expect(await status({})).toBe(200);
  expect(await status({ host: "localhost:1" })).toBe(200);
  expect(await status({ host: "rebound.example.test" })).toBe(403);
  expect(await status({ origin: "http://page.example.test" }, "POST")).toBe(403);
  expect(await status({ "sec-fetch-site": "cross-site" })).toBe(403);
  expect(isLocalProgram({ host: "[::1]:9469" })).toBe(true);
  expect(isLocalProgram({})).toBe(false);
});

test("one service a folder, one an address", async () => {
  await using serving = await Serving.open();
  await expect(serving.start()).rejects.toMatchObject({ code: "TRAWLER_BUSY", message: /another service/ });
  await using other = await Serving.open();
  await other.stop();
  const port = Number(new URL(serving.url).port);
  await expect(other.start({ port })).rejects.toMatchObject({ code: "TRAWLER_BUSY", message: /is taken/ });
});

const openssl = (() => {
  try {
    execFileSync("openssl", ["version"]);
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!openssl)(
  "TLS; certificate and token are read anew when their files change, and a bad change leaves the old ones (without openssl: skipped)",
  async () => {
    await using serving = await Serving.open();
    await serving.stop();
    const tls = makeCertificate(serving.folder, "own");
    const next = makeCertificate(serving.folder, "next");
    const [first, second] = [tls, next].map(({ certificate }) => readFileSync(certificate, "utf8"));
    await serving.start({ tls, rotation: 20 });
    const url = `${serving.url}/v1/instances`;
    expect(url).toMatch(/^https:/);
    const before = await send(url, { authorization: `Bearer ${TOKEN}` }, first);
    expect(before.status).toBe(200);
    copyFileSync(next.key, tls.key);
    await until(() => serving.lines.some((line) => line.includes("the old ones hold")));
    expect((await send(url, { authorization: `Bearer ${TOKEN}` }, first)).serial).toBe(before.serial);
    copyFileSync(next.certificate, tls.certificate);
    writeFileSync(join(serving.folder, "token"), "another-token-0123456789");
    await until(() =>
      ["a new certificate", "a new token"].every((told) => serving.lines.some((line) => line.startsWith(told))),
    );
    const after = await send(url, { authorization: "Bearer another-token-0123456789" }, second);
    expect([after.status, after.serial === before.serial]).toEqual([200, false]);
    expect((await send(url, { authorization: `Bearer ${TOKEN}` }, second)).status).toBe(401);
    expect(serving.lines.join("\n")).not.toContain("another-token");
  },
);

test("heads that are too large are cut off, and the service goes on", async () => {
  await using serving = await Serving.open();
  const large = { authorization: `Bearer ${TOKEN}`, "x-large": "x".repeat(20_000) };
  expect((await send(`${serving.url}/v1/instances`, large)).status).toBe(431);
  expect((await send(`${serving.url}/healthz`, {})).status).toBe(200);
});

test("events: all from the start, on from Last-Event-ID, the end, and then no more", async () => {
  await using serving = await Serving.open();
  const go = Promise.withResolvers<void>();
  serving.cluster.gate = (name) => (name === "b" ? go.promise : undefined);
  const body = { template: { source: templateOf(["a", "b"]) }, namespace: "shop", settings: { parallel: 1 } };
  const { instance } = (await serving.request("POST", "/v1/instances", body)).body;
  await until(() => serving.cluster.made.length === 1);
  const path = `/v1/instances/${instance}/events`;
  const following = serving.request("GET", path);
  let now = "";
  await until(async () => {
    now = (await serving.request("GET", `${path}?follow=false`)).text;
    return now.includes("ConfigMap shop/b: creating");
  });
  expect(now).not.toContain("event: end");
  go.resolve();
  const all = await following;
  expect(all.headers.get("content-type")).toBe("text/event-stream");
  const events = [...all.text.matchAll(/id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n/g)].map(([, id, event, data]) => ({
    id: Number(id),
    event,
    data: JSON.parse(data ?? ""),
  }));
  expect(events.map(({ event, data }) => `${event} ${event === "end" ? data.state : data.text}`)).toEqual([
    "state CREATING",
    "object ConfigMap shop/a: creating",
    "object ConfigMap shop/a: created",
    "object ConfigMap shop/b: creating",
    "object ConfigMap shop/b: created",
    "state SUCCEEDED",
    "end SUCCEEDED",
  ]);
  expect(events[2]?.data.object).toMatchObject({ name: "a", status: "created", uid: "uid-1" });
  const rest = await serving.request("GET", path, undefined, { "last-event-id": String(events[3]?.id) });
  expect(rest.text.match(/event: \w+/g)).toEqual(["event: object", "event: state", "event: end"]);
  const last = await serving.request("GET", path, undefined, { "last-event-id": String(events.at(-1)?.id) });
  expect(last.status).toBe(204);
  expect((await serving.request("GET", path, undefined, { "last-event-id": "x" })).status).toBe(400);
});

test("the OpenAPI description names every route, with what it takes and gives, and which need no token", async () => {
  await using serving = await Serving.open();
  const description = JSON.parse((await send(`${serving.url}/openapi.json`, {})).text);
  expect(Object.keys(description.paths).toSorted()).toEqual([
    "/healthz",
    "/metrics",
    "/readyz",
    "/v1/instances",
    "/v1/instances/{instance}",
    "/v1/instances/{instance}/cancel",
    "/v1/instances/{instance}/events",
    "/v1/instances/{instance}/resume",
    "/v1/instances/{instance}/retire",
    "/v1/instances/{instance}/rollback",
    "/v1/plan",
    "/v1/templates",
    "/v1/templates/{name}",
    "/v1/templates/{name}/dialog",
  ]);
  expect(description).toMatchObject({ openapi: "3.1.0", security: [{ bearer: [] }] });
  expect(description.paths["/healthz"].get.security).toEqual([]);
  const { post } = description.paths["/v1/instances"];
  expect(post.requestBody.content["application/json"].schema.required).toEqual(["template"]);
  const { $ref } = post.responses["202"].content["application/json"].schema;
  expect($ref).toBe("#/components/schemas/Accepted");
  expect(Object.keys(description.components.schemas).toSorted()).toEqual([
    "Accepted",
    "Dialog",
    "Error",
    "Instance",
    "Plan",
    "Report",
    "Template",
  ]);
});

test("the catalogue: good and bad templates, their forms, and answers that become an instance", async () => {
  await using serving = await Serving.open();
  await serving.stop();
  const folder = join(serving.folder, "templates");
  execFileSync("mkdir", [folder]);
  const parameters = [
    { name: "NAME", required: true },
    { name: "PASSWORD", value: "sWordfish-42" },
  ];
  const objects = [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "${NAME}" }, data: { password: "${PASSWORD}" } },
  ];
  writeFileSync(join(folder, "good.json"), templateOf([], { parameters, objects }));
  writeFileSync(join(folder, "bad.yaml"), "kind: Template\napiVersion: v1\nmetadata: {name: bad}\nobjects: 1\n");
  await serving.start({ catalogue: folder, inline: false });
  const list = await serving.request("GET", "/v1/templates");
  expect(list.body["templates"]).toMatchObject([
    { name: "bad", file: "bad.yaml", faults: [{ line: 4 }] },
    { name: "shop", file: "good.json", parameters: 2, faults: [] },
  ]);
  const one = await serving.request("GET", "/v1/templates/shop");
  expect(one.body).toMatchObject({ name: "shop", creates: [{ kind: "ConfigMap", count: 1 }] });
  const dialog = await serving.request("GET", "/v1/templates/shop/dialog");
  expect(dialog.body["schema"]).toMatchObject({ type: "object" });
  expect(one.text + dialog.text).not.toContain("sWordfish");
  expect(dialog.body["creates"]).toMatchObject([{ kind: "ConfigMap", mayCreate: true }]);
  for (const [method, path, body] of [
    ["GET", "/v1/templates/none"],
    ["GET", "/v1/templates/none/dialog"],
    ["POST", "/v1/plan", { template: { name: "none" } }],
  ] as const) {
    const { status, body: answer } = await serving.request(method, path, body);
    expect([status, answer["message"]]).toEqual([404, "there is no template none in the catalogue"]);
  }
  expect((await serving.request("GET", "/v1/templates/bad/dialog")).status).toBe(422);
  const inline = { template: { source: templateOf(["a"]) }, namespace: "shop" };
  expect((await serving.request("POST", "/v1/instances", inline)).status).toBe(403);
  const wrong = await serving.request("POST", "/v1/instances", {
    template: { name: "shop" },
    answers: { target: { namespace: "shop" }, parameters: { NAM: "web" } },
  });
  expect([wrong.status, wrong.body["answers"]]).toMatchObject([
    422,
    [{ message: "there is no parameter NAM; did you mean NAME?" }, { path: "/parameters/NAME" }],
  ]);
  const answers = { target: { namespace: "shop" }, parameters: { NAME: "web" } };
  const made = await serving.request("POST", "/v1/instances", { template: { name: "shop" }, answers });
  expect(made.status).toBe(202);
  await until(() => serving.cluster.made.length === 1);
  expect(serving.cluster.made).toEqual(["shop/web"]);
});

test("D17, D20: the form of a service says what its account may not create; a cluster that is away keeps no form from being shown", async () => {
  await using serving = await Serving.open();
  await serving.stop();
  const folder = join(serving.folder, "templates");
  execFileSync("mkdir", [folder]);
  const object = (kind: string): object => ({ apiVersion: "v1", kind, metadata: { name: "a" } });
  writeFileSync(
    join(folder, "a.json"),
    templateOf([], { objects: ["Secret", "ConfigMap"].map(object), parameters: [] }),
  );
  await serving.start({ catalogue: folder });
  serving.cluster.allow = (verb, plural) => verb !== "create" || plural !== "secrets";
  const rights = async (query: string): Promise<unknown> => {
    const { body, status } = await serving.request("GET", `/v1/templates/shop/dialog${query}`);
    const creates: readonly { readonly mayCreate?: boolean | null }[] = Array.isArray(body["creates"])
      ? body["creates"]
      : [];
    return [status, ...creates.map(({ mayCreate }) => mayCreate)];
  };
  expect(await rights("?namespace=shop")).toEqual([200, false, true]);
  serving.cluster.objects.set("/blue", { kind: "Namespace", metadata: { name: "blue" } });
  const { body } = await serving.request("GET", "/v1/templates/shop/dialog");
  expect(body["namespaces"]).toEqual(["blue"]);
  serving.cluster.objects.clear();
  // Where it is to go is not chosen yet.
  expect(await rights("")).toEqual([200, null, true]);
  expect(await rights("?namespace=shop&server=false")).toEqual([200, null, null]);
  expect(await rights("?namespace=..%2Fkube-system")).toEqual([400]);
  expect(serving.cluster.writes).toEqual([]);
  await serving.stop();
  const client = createApiClient({ target: tokenTarget({ server: "http://127.0.0.1:1" }) });
  await serving.start({ catalogue: folder, client });
  expect(await rights("?namespace=shop")).toEqual([200, null, null]);
});

test("a webhook is told of each end once the run is over, by the next process where the first one could not", async () => {
  await using serving = await Serving.open();
  await serving.stop();
  const sent: string[] = [];
  const away = { name: "hook", send: async () => ({ ok: false, why: "away", retryAfter: null }) as const };
  await serving.start({ notifiers: [away] });
  const body = { template: { source: templateOf(["a"]) }, namespace: "shop" };
  const { instance } = (await serving.request("POST", "/v1/instances", body)).body;
  await until(
    () => serving.service.status().outbox.waiting === 1 && serving.lines.some((line) => line.includes("away")),
  );
  await serving.stop();
  const here = {
    name: "hook",
    send: async ({ body: bytes }: { readonly body: string }) => {
      sent.push(bytes);
      return { ok: true } as const;
    },
  };
  await serving.start({ notifiers: [here] });
  await until(() => serving.service.status().outbox.waiting === 0);
  expect(sent.map((bytes) => JSON.parse(bytes))).toMatchObject([
    { instance, state: "SUCCEEDED", objects: [{ name: "a" }] },
  ]);
});
