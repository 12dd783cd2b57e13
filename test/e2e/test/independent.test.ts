import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Feature, Frame } from "@trawler/plugin-api";
import { redisImage } from "@trawler/testbed";
import { beforeAll, expect, test } from "vitest";
import { crawlOnce } from "../src/agent.ts";
import { container } from "../src/frames.ts";
import { pod, redis } from "../src/manifests.ts";
import { apply, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

const PORT = 6391;
/** Two sleepers, a socket that listens, and a connection to the other container that stays. */
const CLIENT = [
  "sleep 7654321 & sleep 7654322 &",
  "nc -l -p 7777 &",
  `sleep 7654323 | nc 127.0.0.1 ${PORT} &`,
  "trap 'exit 0' TERM INT; while true; do sleep 3600 & wait $!; done",
].join("\n");

const DATAGRAM = 'IO::Socket::INET->new(LocalAddr => "127.0.0.1:8899", Proto => "udp") or die; sleep 7654324';

interface Process {
  readonly pid: number;
  readonly parent_pid: number;
  readonly command: string;
  readonly commandLine: readonly string[];
}

interface Socket {
  readonly "network.transport": string;
  readonly "network.local.address": string;
  readonly "network.local.port": number;
  readonly "network.peer.address": string | null;
  readonly "network.peer.port": number | null;
  readonly "network.connection.state": string;
  readonly pid: number | null;
}

/** One process as ps(1) of the node shows it. */
interface Listed extends Omit<Process, "commandLine"> {
  readonly namespace: string;
  readonly args: string;
}

const run = async (command: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(command, args)).stdout;

async function listed(): Promise<readonly Listed[]> {
  const text = await run("ps", "-e", "-o", "pidns=,pid=,ppid=,comm=,args=");
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (match === null) return [];
    const [, namespace = "", pid, parent, command = "", args = ""] = match;
    return [{ namespace, pid: Number(pid), parent_pid: Number(parent), command, args: args.trim() }];
  });
}

/** Processes of the pid namespace in which one has these arguments. */
async function namespaceOf(args: string): Promise<readonly Listed[]> {
  const all = await listed();
  const found = all.find((one) => one.args === args);
  return found === undefined ? [] : all.filter(({ namespace }) => namespace === found.namespace);
}

const ofType = (features: readonly Feature[], type: string): readonly unknown[] =>
  features.filter((one) => one.type === type).map(({ value }) => value);

onNode("a pod as independent tools see it", "e2e-independent", (namespace) => {
  let frame: Frame;
  let client: readonly Listed[];
  let server: readonly Listed[];

  beforeAll(async () => {
    const containers = [
      redis("--port", String(PORT)),
      { name: "client", script: CLIENT },
      {
        name: "datagram",
        image: redisImage,
        command: ["/usr/bin/perl", "-MIO::Socket::INET", "-e", `my $socket = ${DATAGRAM}`],
      },
    ];
    await apply(pod(namespace, "app", { containers }));
    await podReady(namespace, "app");
    await waitFor("its connection", async () => {
      [client, server] = await Promise.all([
        namespaceOf("sleep 7654321"),
        namespaceOf(`/usr/bin/redis-server *:${PORT}`),
      ]);
      if (client.length === 0 || server.length === 0) return false;
      const seen = await sockets();
      return ["ESTAB", ":8899"].every((text) => seen.some((line) => line.includes(text)));
    });
    const done = await crawlOnce({ pod: `${namespace}/app`, crawlers: { process: {}, connection: {} } });
    expect(done.code, done.log).toBe(0);
    const [first] = done.frames;
    if (!first) throw new Error("no frame");
    frame = first;
  });

  /** Lines of ss(8) in the pod's network namespace. */
  const sockets = async (): Promise<readonly string[]> => {
    const text = await run("nsenter", "-t", String(server[0]?.pid), "-n", "ss", "-Htuanp");
    return text.split("\n").filter((line) => line !== "");
  };

  test.each([
    ["client", () => client],
    ["redis", () => server],
  ] as const)("processes of %s are those of ps in its pid namespace", (name, expected) => {
    const ours = ofType(container(frame, name).features, "process").map((value) => {
      const { pid, parent_pid, command, commandLine } = value as Process;
      return { pid, parent_pid, command, args: commandLine.join(" ").replaceAll("\n", " ") };
    });
    const theirs = expected().map(({ namespace: _, ...one }) => one);
    expect(ours.toSorted(byPid)).toEqual(theirs.toSorted(byPid));
    expect(theirs.length).toBeGreaterThanOrEqual(name === "client" ? 6 : 1);
  });

  test("parity P31: sockets of the pod are those of ss in its network namespace, each with its process", async () => {
    const holders = [frame, ...frame.containers];
    const ours = holders.flatMap(({ features }) =>
      ofType(features, "connection").map((value) => lineOf(value as Socket)),
    );
    const theirs = (await sockets()).map(lineOfSs);
    expect(ours.toSorted()).toEqual(theirs.toSorted());
    // Both families of the server, that of nc, the datagram socket, and both ends of the connection.
    expect(theirs).toHaveLength(6);
  });
});

const byPid = (one: { readonly pid: number }, other: { readonly pid: number }): number => one.pid - other.pid;

const STATES: Readonly<Record<string, string>> = { LISTEN: "listen", ESTAB: "established" };

/** `tcp listen 0.0.0.0:6391 - 4711`. */
function lineOf(socket: Socket): string {
  const at = (address: string, port: number | null): string => `${address}:${port}`;
  const local = at(socket["network.local.address"], socket["network.local.port"]);
  const peer = socket["network.peer.address"];
  const far = peer === null ? "-" : at(peer, socket["network.peer.port"]);
  const transport = socket["network.transport"];
  return `${transport} ${transport === "udp" ? "" : socket["network.connection.state"]} ${local} ${far} ${socket.pid}`;
}

function lineOfSs(line: string): string {
  const [transport = "", state = "", , , local = "", peer = "", users = ""] = line.split(/\s+/);
  // A socket of both families is shown with a star.
  const plain = (text: string): string => text.replace(/[[\]]/g, "").replace(/^\*:/, ":::");
  const far = peer.endsWith(":*") ? "-" : plain(peer);
  const pid = /pid=(\d+)/.exec(users)?.[1] ?? "null";
  // A datagram socket has no state of its own.
  return `${transport} ${transport === "udp" ? "" : (STATES[state] ?? state)} ${plain(local)} ${far} ${pid}`;
}
