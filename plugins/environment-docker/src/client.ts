import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { jsonLines } from "./lines.ts";
import { list, record, text } from "./value.ts";

/** Newest version of the API whose answers were read for this code. */
const NEWEST = "1.51";

/** The calls of the engine that are needed; each has a deadline and throws coded errors. */
export interface DockerClient {
  readonly socket: string;
  /** `docker` or `podman`, as the last `negotiate` found. */
  readonly engine: string;
  /** Agrees on a version of the API. */
  negotiate(signal: AbortSignal): Promise<string>;
  /** All containers, in the short form. */
  list(signal: AbortSignal): Promise<readonly unknown[]>;
  /** Null where it has gone or is being removed. */
  inspect(id: string, signal: AbortSignal): Promise<unknown>;
  /** Null where it has gone. */
  image(id: string, signal: AbortSignal): Promise<unknown>;
  /** The steps that made an image, the newest first; null where it has gone. */
  history(id: string, signal: AbortSignal): Promise<unknown>;
  /** Null where it has gone. */
  network(id: string, signal: AbortSignal): Promise<unknown>;
  /** Resolves once the engine has subscribed us; the iteration ends when the stream does. */
  events(since: number | null, signal: AbortSignal): Promise<AsyncIterable<unknown>>;
}

/** The first socket that is there; the first of them where none is. */
export async function findSocket(setting: string | undefined, root: string): Promise<string> {
  if (setting !== undefined) return setting;
  const usual = [
    join(root, "run/docker.sock"),
    join(root, "var/run/docker.sock"),
    join(root, "run/podman/podman.sock"),
  ] as const;
  for (const path of usual) {
    try {
      await access(path, constants.F_OK);
      return path;
    } catch {
      // The next one.
    }
  }
  return usual[0];
}

/** `timeout` in milliseconds for each call but the stream. The client library is loaded here. */
export async function openClient(socket: string, timeout: number): Promise<DockerClient> {
  const { default: Docker } = await import("dockerode");
  // Without a host, DOCKER_HOST is not asked: that is for people at a terminal, and would send us elsewhere.
  const options = { socketPath: socket, host: undefined, protocol: "http" } as const;
  let engine = new Docker({ ...options, timeout });
  let streams = new Docker(options);
  let name = "docker";
  const call = async <T>(what: string, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const deadline = AbortSignal.timeout(timeout);
    const signal = AbortSignal.any([outer, deadline]);
    try {
      return await settledBefore(work(signal), signal);
    } catch (error) {
      throw clientError(error, what, socket, deadline.aborted);
    }
  };
  return {
    socket,
    get engine() {
      return name;
    },
    async negotiate(signal) {
      const unversioned = new Docker({ ...options, timeout });
      const answer = record(await call("version", signal, () => unversioned.version()));
      name = engineName(answer);
      const version = chooseVersion(text(answer["ApiVersion"]), text(answer["MinAPIVersion"]));
      engine = new Docker({ ...options, timeout, version: `v${version}` });
      streams = new Docker({ ...options, version: `v${version}` });
      return version;
    },
    list: (signal) =>
      call("list", signal, async (abortSignal) => list(await engine.listContainers({ all: true, abortSignal }))),
    inspect: (id, signal) =>
      call("inspect", signal, (abortSignal) => nullIfGone(engine.getContainer(id).inspect({ abortSignal }))),
    image: (id, signal) => call("image", signal, () => nullIfGone(engine.getImage(encodeURIComponent(id)).inspect())),
    history: (id, signal) =>
      call("history", signal, () => nullIfGone(engine.getImage(encodeURIComponent(id)).history())),
    network: (id, signal) => call("network", signal, () => nullIfGone(engine.getNetwork(id).inspect())),
    async events(since, signal) {
      const stream = await call("events", signal, (opening) => {
        // The deadline is for the answer's head only.
        const closing = new AbortController();
        const close = (): void => closing.abort();
        opening.addEventListener("abort", close, { once: true });
        signal.addEventListener("abort", close, { once: true });
        const filters = { type: ["container", "network"] as const, event: EVENTS };
        const opened = streams.getEvents({
          filters: JSON.stringify(filters),
          ...(since !== null && { since }),
          abortSignal: closing.signal,
        });
        return opened.finally(() => opening.removeEventListener("abort", close));
      });
      return jsonLines(bytesOf(stream));
    },
  };
}

/** The result, or the signal's reason where that comes first: not every call of the library takes a signal. */
async function settledBefore<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) stop();
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
    work.catch(() => undefined);
  }
}

async function nullIfGone(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    const status = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
    if (status === 404 || status === 409) return null;
    // Podman, of one that goes while it is read.
    if (status === 500 && /no such container/.test(errorMessage(error))) return null;
    throw error;
  }
}

/** Those that change what is reported: not `exec_create`, of which a busy node has many. */
const EVENTS: readonly string[] = [
  "create",
  "start",
  "restart",
  "die",
  // Podman's own word, by which it filters; it says `die` then.
  "died",
  "oom",
  "pause",
  "unpause",
  "rename",
  "update",
  "destroy",
  // Podman's word for it.
  "remove",
  "connect",
  "disconnect",
];

/** Which engine gave this answer to `GET /version`: Podman answers as Docker does. */
export function engineName(answer: unknown): string {
  const names = list(record(answer)["Components"]).map((one) => text(record(one)["Name"]));
  return names.includes("Podman Engine") ? "podman" : "docker";
}

async function* bytesOf(stream: NodeJS.ReadableStream): AsyncGenerator<Uint8Array | string> {
  for await (const chunk of stream) {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) yield chunk;
  }
}

/**
 * The newest version that both sides know, or the engine's oldest where that is newer than ours: what is read here has
 * not changed its shape since version 1.24.
 */
export function chooseVersion(newest: string | null, oldest: string | null): string {
  const theirs = newest ?? NEWEST;
  const ours = compareVersions(theirs, NEWEST) < 0 ? theirs : NEWEST;
  return oldest !== null && compareVersions(ours, oldest) < 0 ? oldest : ours;
}

function compareVersions(a: string, b: string): number {
  const [major = 0, minor = 0] = a.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = b.split(".").map(Number);
  return major - otherMajor || minor - otherMinor;
}

function clientError(error: unknown, what: string, socket: string, late: boolean): TrawlerError {
  const options = { cause: error };
  if (late)
    return new TrawlerError("TRAWLER_UNAVAILABLE", `Docker at ${socket} did not answer ${what} in time`, options);
  switch (errorCode(error)) {
    case "ENOENT":
    case "ECONNREFUSED":
      return new TrawlerError("TRAWLER_UNAVAILABLE", `no Docker engine answers at ${socket}`, options);
    case "EACCES":
    case "EPERM":
      return new TrawlerError("TRAWLER_DENIED", `${socket} may not be opened by this user`, options);
    default:
      return new TrawlerError("TRAWLER_UNAVAILABLE", `Docker at ${socket}, ${what}: ${errorMessage(error)}`, options);
  }
}
