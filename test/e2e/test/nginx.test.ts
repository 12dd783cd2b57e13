import { kubectl } from "@trawler/testbed";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { container, feature } from "../src/frames.ts";
import { type ContainerOptions, nginx, pod } from "../src/manifests.ts";
import { apply } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { frameValidator } from "../src/validate.ts";
import { waitFor } from "../src/wait.ts";

const CRAWLS = 8;
/** Paths that are tried where the page is not known. */
const PATHS = 4;

const podIp = { env: [{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }] };

/** nginx with one server per text; each request is a line of its log. `$` is the shell's: `$POD_IP` is filled in. */
const serving = (name: string, ...servers: readonly string[]): ContainerOptions => {
  const blocks = servers.map((server) => `server { ${server} }`).join(" ");
  const http = `log_format asked '\\$request|\\$http_user_agent'; access_log /dev/stdout asked; ${blocks}`;
  const configuration = `daemon off; error_log stderr; pid /tmp/${name}.pid; events {} http { ${http} }`;
  const command = ["/bin/sh", "-c", `cat > /tmp/n.conf <<CONF\n${configuration}\nCONF\nexec nginx -c /tmp/n.conf`];
  return { ...nginx(""), name, command, extra: podIp };
};

const page = (access: string) => `location = /stub_status { stub_status; ${access} }`;

onNode("nginx in pods", "e2e-nginx", (namespace) => {
  let agent: Agent;

  const nginxOf = async (name: string, member = "nginx") => {
    const frame = await agent.frames.next(`${namespace}/${name}`, "with an nginx feature", (one) =>
      one.containers.some((inner) => inner.name === member && feature(inner, "nginx") !== undefined),
    );
    return feature(container(frame, member), "nginx");
  };

  const requests = async (name: string, member = "nginx") => {
    const { stdout } = await kubectl(["logs", "-n", namespace, name, "-c", member]);
    return stdout.split("\n").filter((line) => line.includes("|"));
  };

  beforeAll(async () => {
    const of = (name: string, ...containers: readonly ContainerOptions[]) => pod(namespace, name, { containers });
    const annotated = (name: string, annotation: object, one: ContainerOptions) =>
      pod(namespace, name, {
        annotations: { "trawler.dev/crawl.nginx": JSON.stringify(annotation) },
        containers: [one],
      });
    await apply(
      of("local-only", serving("nginx", `listen 80; ${page("allow 127.0.0.1; deny all;")}`)),
      of("loopback", serving("nginx", `listen 127.0.0.1:80; ${page("")}`)),
      of("other-port", serving("nginx", `listen 8081; ${page("")}`)),
      annotated(
        "annotated",
        { port: 9113, path: "/health/nginx" },
        serving("nginx", `listen 80; ${page("")}`, "listen 9113; location = /health/nginx { stub_status; }"),
      ),
      of("forbidden", serving("nginx", "listen 80; deny all;")),
      of("missing", serving("nginx", "listen 80; location / { return 404; }")),
      of("hello", serving("nginx", "listen 80; location / { return 200 hello; }")),
      of(
        "redirect",
        serving("nginx", "listen 80; return 301 http://127.0.0.1:8123/followed;", "listen 8123; return 404;"),
      ),
      of(
        "twins",
        serving("front", `listen 80; ${page("")}`),
        serving("back", "listen 8080; location / { return 404; }"),
      ),
      of(
        "same-port",
        serving("inner", `listen 127.0.0.1:80; ${page("")}`),
        serving("outer", "listen $POD_IP:80; deny all;"),
      ),
    );
    const wait = ["wait", "-n", namespace, "--for=condition=Ready", "pod", "--all", "--timeout=150s"];
    await kubectl(wait, undefined, { deadline: 160_000 });
    agent = await Agent.start({ every: "1s", crawlers: { nginx: {} } });
  });

  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
  });

  test.each([
    ["local-only", { state: "ok", "server.port": 80, version: expect.stringMatching(/^nginx\/1\.22/) }],
    ["loopback", { state: "ok", "server.port": 80 }],
    ["other-port", { state: "ok", "server.port": 8081, path: "/stub_status" }],
    ["annotated", { state: "ok", "server.port": 9113, path: "/health/nginx" }],
    ["forbidden", { state: "status_unavailable", reason: expect.stringContaining("403") }],
    ["missing", { state: "status_unavailable", reason: expect.stringContaining("404"), "server.port": 80 }],
    ["hello", { state: "not_stub_status", "server.port": 80 }],
    ["redirect", { "server.port": 80, state: "status_unavailable", reason: expect.stringContaining("301") }],
  ])("C112: %s has its state as data", async (name, expected) => {
    expect(await nginxOf(name)).toMatchObject(expected);
  });

  test("C117: of two containers with nginx each has its own port, even on one port of two addresses", async () => {
    expect(await nginxOf("twins", "front")).toMatchObject({ state: "ok", "server.port": 80 });
    expect(await nginxOf("twins", "back")).toMatchObject({ state: "status_unavailable", "server.port": 8080 });
    expect(await nginxOf("same-port", "inner")).toMatchObject({ state: "ok", "server.port": 80 });
    expect(await nginxOf("same-port", "outer")).toMatchObject({
      state: "status_unavailable",
      reason: expect.stringContaining("403"),
    });
  });

  test("the user's access log is not flooded: one line per crawl with a page, one round without", async () => {
    const crawls = (name: string) => agent.frames.of(`${namespace}/${name}`).length;
    await waitFor("some crawls", () => ["local-only", "missing"].every((name) => crawls(name) > CRAWLS));
    for (const name of ["missing", "forbidden", "hello", "redirect"]) {
      const lines = await requests(name);
      expect(lines.length, `${name}: ${lines.join("\n")}`).toBeLessThanOrEqual(2 * PATHS);
      expect(lines.filter((line) => line.includes("followed"))).toEqual([]);
    }
    for (const name of ["local-only", "other-port", "annotated"]) {
      const lines = await requests(name);
      // A crawl may be under way, and a frame's figures may have been read before it.
      expect(lines.length, name).toBeLessThanOrEqual(crawls(name) + 2);
      expect(new Set(lines.map((line) => line.split("|")[1]))).toEqual(new Set([expect.stringMatching(/^trawler\//)]));
    }
    expect((await requests("same-port", "outer")).length).toBeLessThanOrEqual(2 * PATHS);
  });

  test("our own requests are all that the counters show, and frames are valid", async () => {
    const first = Number((await nginxOf("other-port"))?.["nginx.requests"]);
    const later = await agent.frames.next(
      `${namespace}/other-port`,
      "with more requests",
      (one) => Number(feature(container(one, "nginx"), "nginx")?.["nginx.requests"]) > first,
    );
    expect(feature(container(later, "nginx"), "nginx")).toMatchObject({
      "nginx.connections_dropped": 0,
      "nginx.connections_current.active": 1,
      "nginx.connections_current.writing": 1,
    });
    const validate = frameValidator();
    for (const frame of agent.frames.all) expect(validate(frame), JSON.stringify(frame)).toEqual([]);
  });
});
