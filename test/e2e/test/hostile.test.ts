import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Frame } from "@trawler/plugin-api";
import { kubectl, redisImage } from "@trawler/testbed";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "../src/agent.ts";
import { container, feature } from "../src/frames.ts";
import { type ContainerOptions, idle, pod } from "../src/manifests.ts";
import { apply } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { frameValidator } from "../src/validate.ts";
import { waitFor } from "../src/wait.ts";

const EVERY = 2;
const SLOTS = 4;
const MAX_PROCESSES = 200;
const MAX_FRAME = 1_000_000;

/** Recognised wherever it turns up. */
const secret = (name: string) => `s3cr3t-${name}-${randomUUID()}`;
const SECRETS = {
  node: secret("node"),
  environment: secret("env"),
  osRelease: secret("os"),
  equals: secret("equals"),
  next: secret("next"),
  user: secret("user"),
  assigned: secret("assigned"),
  json: secret("json"),
  header: secret("header"),
  bearer: secret("bearer"),
  query: secret("query"),
  word: secret("word"),
};

const ARGUMENTS = [
  `--password=${SECRETS.equals}`,
  ...["--token", SECRETS.next],
  `https://user:${SECRETS.user}@example.test/path`,
  `PGPASSWORD=${SECRETS.assigned}`,
  `{"api_key":"${SECRETS.json}"}`,
  `X-Api-Key: ${SECRETS.header}`,
  `Authorization: Bearer ${SECRETS.bearer}`,
  `https://example.test/?a=b&access_token=${SECRETS.query}&c=d`,
  ...["--requirepass", SECRETS.word],
  // 130 kB together, with what is no UTF-8's replacement and control characters in between.
  ...Array.from({ length: 130 }, (_, index) => `${index}\u001b[31m\ufffd${"x".repeat(1_000)}`),
];

/** A container whose os-release is made by this line of shell. */
const release = (name: string, script: string): ContainerOptions => ({
  name,
  script: `mkdir -p /usr/lib; cd /etc; ${script}; ${idle}`,
});

onNode("a hostile pod", "e2e-hostile", (namespace) => {
  let agent: Agent;
  let folder: string;

  const whole = (name: string) =>
    agent.frames.next(
      `${namespace}/${name}`,
      "with all its containers running",
      ({ metadata, containers, reason }) =>
        metadata.complete && reason === "interval" && containers.every(({ state }) => state.status === "running"),
      60_000,
    );

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "trawler-hostile-"));
    const planted = join(folder, "os-release");
    await writeFile(planted, `ID=${SECRETS.node}\nPRETTY_NAME="${SECRETS.node}"\n`);
    await apply(
      pod(namespace, "files", {
        containers: [
          release("absolute", `ln -s ${planted} os-release; ln -s /etc/shadow /usr/lib/os-release`),
          release("upward", `ln -s ../../../../../../../..${planted} os-release`),
          release(
            "magic",
            `ln -s /proc/1/root${planted} os-release; ln -s /proc/self/root${planted} /usr/lib/os-release`,
          ),
          release("circle", "ln -s os-release os-release"),
          release("fifo", "mkfifo os-release"),
          release("zero", "ln -s /dev/zero os-release"),
          release("folder", "mkdir os-release"),
          release("sparse", "truncate -s 1099511627776 os-release"),
          release(
            "text",
            `printf 'ID=__proto__\\n__proto__=x\\nNAME="\\033[2J\\377\\001"\\nPRETTY_NAME="password=${SECRETS.osRelease}"\\n' > os-release`,
          ),
        ],
      }),
      pod(namespace, "host-pid", {
        containers: [release("magic", `ln -s /proc/1/root${planted} os-release`)],
        spec: { hostPID: true },
      }),
      pod(namespace, "processes", {
        containers: [
          { name: "long", command: ["/bin/sh", "-c", idle, ...ARGUMENTS] },
          { name: "empty", command: ["/bin/sh", "-c", idle, ...Array(16_000).fill(""), "end"] },
          { name: "named", script: `printf 'e)\\n\\033[31m\\001\\377' > /proc/self/comm; ${idle}` },
          { name: "many", script: `for i in $(seq ${MAX_PROCESSES + 20}); do sleep 3600 & done; ${idle}` },
          {
            name: "environment",
            extra: {
              env: [
                { name: "DATABASE_PASSWORD", value: SECRETS.environment },
                { name: "__proto__", value: SECRETS.environment },
              ],
            },
          },
          {
            name: "sockets",
            image: redisImage,
            command: [
              "perl",
              "-e",
              `use Socket; for my $n ("\\0a\\n0: 00000002 0 00010000 0001 01 1 /run/fake.sock", "/tmp/\\e[31m\\xff", "\\0x\\n\\0y") {
                 socket(my $s, PF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un($n)) or die; listen($s, 1); push @k, $s }
               sleep 1 while 1`,
            ],
          },
        ],
      }),
      pod(namespace, "labelled", {
        labels: { constructor: "y", toString: "z", valueOf: "v", hasOwnProperty: "h" },
        annotations: {
          ...Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`note-${index}`, "\u0001é".repeat(40)])),
          constructor: "c",
          "trawler.dev/crawl.nginx": '{"path": "/x\\r\\nEvil: 1"}',
          "trawler.dev/crawl.redis": '{"__proto__": {"port": 22}, "port": 22, "host": "10.88.0.1"}',
          "trawler.dev/crawl.process": "{".repeat(5_000),
        },
      }),
      pod(namespace, "neighbour", { containers: [{ image: redisImage, command: ["sleep", "3600"] }] }),
    );
    const wait = ["wait", "-n", namespace, "--for=condition=Ready", "pod", "--all", "--timeout=150s"];
    await kubectl(wait, undefined, { deadline: 160_000 });
    const crawlers = { os: {}, cpu: {}, memory: {}, network: {}, process: {}, connection: {}, redis: {}, nginx: {} };
    agent = await Agent.start({ every: `${EVERY}s`, crawlers });
  });

  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test("C78: no link leads out of a container, and no FIFO or device is opened", async () => {
    const frame = await whole("files");
    const outcome = (name: string) => {
      const one = container(frame, name);
      return feature(one, "os") ?? one.problems.find(({ crawler }) => crawler === "os")?.code ?? null;
    };
    const names = ["absolute", "upward", "magic", "circle", "fifo", "zero", "folder", "sparse"];
    expect(Object.fromEntries(names.map((name) => [name, outcome(name)]))).toEqual({
      // Inside the container there is no such file.
      absolute: null,
      upward: null,
      magic: "denied",
      circle: "denied",
      fifo: "denied",
      zero: "denied",
      folder: "denied",
      sparse: "truncated",
    });
    expect(outcome("text")).toMatchObject({ id: "__proto__" });
    const host = await whole("host-pid");
    expect(feature(container(host, "magic"), "os")).toBeUndefined();
  });

  test("C87: a long command line is cut and a name of control characters is told as it is", async () => {
    const frame = await whole("processes");
    const first = (name: string) => {
      const values = container(frame, name).features.map(({ value }) => value as Record<string, unknown>);
      return values.find((value) => value["vpid"] === 1);
    };
    const lines = first("long")?.["commandLine"] as readonly string[];
    expect(Buffer.byteLength(lines.join(" "))).toBeLessThanOrEqual(4096);
    expect(lines.at(-1)).toMatch(/…$/);
    expect(lines).toContain("--password=[redacted]");
    expect(lines).toContain("https://[redacted]@example.test/path");
    expect(lines).toContain("Authorization: Bearer [redacted]");
    expect(first("empty")?.["commandLine"]).toHaveLength(1_000);
    expect(first("named")?.["command"]).toBe("e)\n\u001b[31m\u0001\ufffd");
    const many = container(frame, "many");
    expect(many.features.filter(({ type }) => type === "process")).toHaveLength(MAX_PROCESSES);
    expect(many.problems).toContainEqual(expect.objectContaining({ crawler: "process", code: "truncated" }));
  });

  test("C45: labels and annotations with names of JavaScript's own are data", async () => {
    const frame = await whole("labelled");
    expect(Object.entries(frame.labels)).toEqual(
      expect.arrayContaining([
        ["constructor", "y"],
        ["toString", "z"],
      ]),
    );
    expect(Object.keys(frame.annotations).filter((name) => name.startsWith("note-"))).toHaveLength(300);
    expect(feature(container(frame, "main"), "nginx")).toBeUndefined();
  });

  test("nothing of the node and no secret leaks, every frame is valid and small, and others are unaffected", async () => {
    const slots = (name: string) =>
      agent.frames.of(`${namespace}/${name}`).filter(({ reason }: Frame) => reason === "interval");
    const names = ["files", "processes", "labelled", "neighbour", "host-pid"];
    await waitFor("some slots", () => names.every((name) => slots(name).length > SLOTS), 60_000);
    for (const name of names) {
      const times = slots(name).map(({ time }) => Date.parse(time));
      for (const [index, time] of times.entries()) {
        const before = times[index - 1];
        if (before !== undefined) expect(Math.round((time - before) / 1_000 / EVERY), name).toBe(1);
      }
    }
    const neighbour = await whole("neighbour");
    expect(feature(container(neighbour, "main"), "os")).toMatchObject({ id: "debian" });
    expect(neighbour.problems.concat(...neighbour.containers.map(({ problems }) => problems))).toEqual([]);

    const validate = frameValidator();
    for (const frame of agent.frames.all) {
      expect(validate(frame)).toEqual([]);
      expect(JSON.stringify(frame).length).toBeLessThan(MAX_FRAME);
    }
    const said = JSON.stringify(agent.frames.all) + agent.log.join("\n");
    const leaked = Object.entries(SECRETS).filter(([, value]) => said.includes(value));
    expect(leaked.map(([name]) => name)).toEqual([]);
    expect(await agent.memory()).toBeLessThan(400 * 2 ** 20);
  });
});
