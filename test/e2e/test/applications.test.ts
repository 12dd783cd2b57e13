import type { Frame } from "@trawler/plugin-api";
import { importApplications } from "@trawler/testbed";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { account, servers } from "../src/applications.ts";
import { container, feature } from "../src/frames.ts";
import { pod } from "../src/manifests.ts";
import { apply } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { frameValidator } from "../src/validate.ts";

/** A database is made, and a JVM starts, on two cores that others use too. */
const STARTING = 240_000;

onNode("servers in pods", "e2e-applications", (namespace) => {
  let agent: Agent;
  const name = `${namespace}/servers`;

  beforeAll(async () => {
    await importApplications();
    await apply(pod(namespace, "servers", { containers: servers }));
    agent = await Agent.start({
      every: "2s",
      crawlers: { apache: {}, memcached: {}, postgresql: account, mysql: account, tomcat: account },
    });
  }, 900_000);
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
  });

  const read = async (member: string, type: string): Promise<Record<string, unknown>> => {
    const isOk = (frame: Frame): boolean =>
      frame.containers.some((one) => one.name === member && feature(one, type)?.["state"] === "ok");
    const frame = await agent.frames.next(name, `${type} of ${member}`, isOk, STARTING);
    return feature(container(frame, member), type) ?? {};
  };

  test.each([
    ["apache", "apache", { "server.port": 8081, "apache.workers.busy": expect.any(Number) }],
    ["memcached", "memcached", { "server.port": 11_211, "memcached.connections.max": 1024 }],
    ["postgresql", "postgresql", { "server.port": 5432, role: "primary", "postgresql.connection.max": 100 }],
    ["mariadb", "mysql", { "server.port": 3306, product: "mariadb", "mysql.uptime": expect.any(Number) }],
    ["tomcat", "tomcat", { "server.port": 8080, "jvm.memory.max": expect.any(Number) }],
  ])(
    "%s on loopback of a shared network namespace is asked, and is its own container's",
    async (member, type, expected) => {
      expect(await read(member, type)).toMatchObject({ ...expected, reason: null });
      for (const frame of agent.frames.of(name)) {
        for (const other of frame.containers) if (other.name !== member) expect(feature(other, type)).toBeUndefined();
      }
    },
    STARTING + 30_000,
  );

  test(
    "details of databases, pools and connectors are there, every frame is valid, and no password leaves",
    async () => {
      const all = (frame: Frame) =>
        new Set(frame.containers.flatMap(({ features }) => features.map(({ type }) => type)));
      const frame = await agent.frames.next(
        name,
        "all details",
        (one) => ["postgresqlDatabase", "tomcatConnector", "tomcatMemoryPool"].every((type) => all(one).has(type)),
        STARTING,
      );
      expect(feature(container(frame, "postgresql"), "postgresqlDatabase", "5432/postgres")).toMatchObject({
        "postgresql.commits": expect.any(Number),
      });
      const validate = frameValidator();
      for (const one of agent.frames.of(name)) expect(validate(one), JSON.stringify(one)).toEqual([]);
      expect(JSON.stringify(agent.frames.all)).not.toContain(account.password);
      expect(agent.log.join("\n")).not.toContain(account.password);
    },
    STARTING + 30_000,
  );
});
