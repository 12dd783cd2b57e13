import { constants, fstatSync, openSync, statSync } from "node:fs";
import { isIP, Socket } from "node:net";
import { errorCode, type NetworkSocket, TrawlerError } from "@trawler/plugin-api";
import { SystemError } from "../ffi/libc.ts";
import { closeQuietly, descriptorPath } from "../files/descriptor.ts";
import { shown } from "../files/errors.ts";
import { openFileSystem } from "../files/open.ts";
import { ProcessFolder, type ProcessIdentity, processError } from "../files/pid.ts";
import { adopt, Deadline, dial } from "./dial.ts";
import { AF_INET, AF_INET6, AF_UNIX } from "./protocol.ts";
import { SocketMaker } from "./socket-maker.ts";
import { checkPort, insideAddresses, outsideAddresses } from "./target.ts";

export type ConnectTarget = { readonly port: number; readonly host?: string } | { readonly unix: string };

/** Whose network namespace, and the addresses that are its own. */
export interface ConnectMember extends ProcessIdentity {
  readonly addresses?: readonly string[];
  /** As of `openFileSystem`; for a path of a unix socket. */
  readonly allowNodeRoot?: boolean;
}

export interface ConnectOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole call; default 5,000. */
  readonly timeout?: number;
}

const DEFAULT_TIMEOUT = 5_000;

/** The namespace may not be entered: no right, or no FFI. Told apart from what a connection meets inside it. */
const NO_ENTRY = "NO_ENTRY";
const ENTRY_CODES: ReadonlySet<string> = new Set(["EPERM", "EACCES", "ENOSYS"]);

/**
 * Connects inside other processes' network namespaces. One thread enters them in turn and makes the sockets; they are
 * connected and used on the thread that asks. One per agent; disposing ends the thread, not the sockets.
 */
export class NamespaceConnector implements AsyncDisposable {
  readonly #maker: SocketMaker;

  /** `worker`: the entry of the thread where it does not lie beside this file, as in a bundle. */
  constructor(options: { readonly worker?: URL } = {}) {
    this.#maker = new SocketMaker(options.worker ?? workerBeside());
  }

  /**
   * A connected socket, which the caller destroys. Tries loopback, then the member's own addresses; without the right to
   * enter, only the latter, from outside. A unix path is resolved in the member's root; `@name` is an abstract one.
   * @throws TRAWLER_UNAVAILABLE (refused, no route, no such socket), TRAWLER_DENIED, TRAWLER_GONE, TRAWLER_REFUSED (a
   * host that is not the member's, a path that is no socket), TRAWLER_PLUGIN_TIMEOUT, TRAWLER_RETRY.
   */
  async connect(member: ConnectMember, target: ConnectTarget, options: ConnectOptions = {}): Promise<NetworkSocket> {
    using deadline = new Deadline(options.timeout ?? DEFAULT_TIMEOUT, options.signal);
    const name = "unix" in target ? shown(target.unix) : `port ${target.port}`;
    try {
      if ("unix" in target) {
        const abstract = target.unix.startsWith("@") || target.unix.startsWith("\0");
        return abstract
          ? await this.#abstract(member, `\0${target.unix.slice(1)}`, deadline)
          : await connectPath(member, target.unix, deadline);
      }
      checkPort(target.port);
      return await this.#port(member, target.port, insideAddresses(target.host, member.addresses ?? []), deadline);
    } catch (error) {
      throw connectError(error, name);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#maker[Symbol.asyncDispose]();
  }

  async #port(
    member: ConnectMember,
    port: number,
    addresses: readonly string[],
    deadline: Deadline,
  ): Promise<NetworkSocket> {
    using namespace = openNamespace(member);
    if (namespace.descriptor !== null) {
      try {
        return await tryEach(addresses, deadline, async (host, milliseconds) => {
          const family = isIP(host) === 6 ? AF_INET6 : AF_INET;
          const socket = await this.#socket(namespace, family, deadline.signal);
          return dial(socket, { port, host }, milliseconds, deadline.signal);
        });
      } catch (error) {
        if (!namespace.alive()) throw new TrawlerError("TRAWLER_GONE", `process ${member.pid} has ended`);
        if (errorCode(error) !== NO_ENTRY) throw error;
      }
    }
    const outside = outsideAddresses(addresses);
    if (outside.length === 0) throw new SystemError(NO_ENTRY);
    return tryEach(outside, deadline, (host, milliseconds) =>
      dial(new Socket(), { port, host }, milliseconds, deadline.signal),
    );
  }

  async #abstract(member: ConnectMember, path: string, deadline: Deadline): Promise<NetworkSocket> {
    using namespace = openNamespace(member);
    if (namespace.descriptor === null) throw new SystemError(NO_ENTRY);
    const socket = await this.#socket(namespace, AF_UNIX, deadline.signal);
    return dial(socket, { path }, deadline.left(), deadline.signal);
  }

  async #socket(namespace: Namespace, domain: number, signal: AbortSignal): Promise<Socket> {
    if (namespace.own || namespace.descriptor === null) return new Socket();
    try {
      return adopt(await this.#maker.make(namespace.descriptor, domain, signal));
    } catch (error) {
      throw ENTRY_CODES.has(errorCode(error) ?? "") ? new SystemError(NO_ENTRY) : error;
    }
  }
}

/** Its entry has the ending that this file has: source or built. */
function workerBeside(): URL {
  return import.meta.url.endsWith(".ts")
    ? new URL("./worker.ts", import.meta.url)
    : new URL("./worker.js", import.meta.url);
}

interface Namespace extends Disposable {
  /** Null where this process may not see it. */
  readonly descriptor: number | null;
  /** It is our own: there is nothing to enter. */
  readonly own: boolean;
  alive(): boolean;
}

function openNamespace(member: ProcessIdentity): Namespace {
  const folder = new ProcessFolder(member);
  let descriptor: number | null = null;
  try {
    descriptor = openSync(`${folder.path}/ns/net`, constants.O_RDONLY);
  } catch (error) {
    if (!ENTRY_CODES.has(errorCode(error) ?? "")) {
      folder[Symbol.dispose]();
      throw processError(error, member.pid);
    }
  }
  return {
    descriptor,
    own: descriptor !== null && isOwn(descriptor),
    alive: () => folder.alive(),
    [Symbol.dispose]() {
      if (descriptor !== null) closeQuietly(descriptor);
      folder[Symbol.dispose]();
    },
  };
}

function isOwn(descriptor: number): boolean {
  const ours = statSync("/proc/self/ns/net", { bigint: true });
  const theirs = fstatSync(descriptor, { bigint: true });
  return ours.ino === theirs.ino && ours.dev === theirs.dev;
}

/** A socket file is found inside the member's root and connected through our own descriptor of it. */
async function connectPath(member: ConnectMember, path: string, deadline: Deadline): Promise<NetworkSocket> {
  await using files = await openFileSystem({ ...member, signal: deadline.signal });
  const descriptor = files.openSocket(path);
  try {
    return await dial(new Socket(), { path: descriptorPath(descriptor) }, deadline.left(), deadline.signal);
  } finally {
    closeQuietly(descriptor);
  }
}

/** The first that connects; each gets its share of the time left, as a firewall may drop what nobody answers. */
async function tryEach(
  addresses: readonly string[],
  deadline: Deadline,
  attempt: (address: string, milliseconds: number) => Promise<NetworkSocket>,
): Promise<NetworkSocket> {
  let failure: unknown = new SystemError("ECONNREFUSED");
  for (const [index, address] of addresses.entries()) {
    try {
      // The last one ends with the call itself.
      const last = index === addresses.length - 1;
      return await attempt(address, last ? deadline.left() + 1_000 : deadline.left() / (addresses.length - index));
    } catch (error) {
      // What the family or the interface lacks says less than a refusal.
      if (index === 0 || !ABSENT.has(errorCode(error) ?? "")) failure = error;
      if (deadline.signal.aborted || errorCode(error) === NO_ENTRY) throw error;
    }
  }
  throw failure;
}

const ABSENT: ReadonlySet<string> = new Set(["EAFNOSUPPORT", "EADDRNOTAVAIL", "ENETUNREACH"]);

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOENT: "no such socket",
  ETIMEDOUT: "no answer",
  EHOSTUNREACH: "no route",
  ENETUNREACH: "no route",
};

function connectError(error: unknown, name: string): TrawlerError {
  const code = errorCode(error) ?? "unknown";
  // A missing file is a missing listener here.
  if (code === "TRAWLER_UNSUPPORTED") return new TrawlerError("TRAWLER_UNAVAILABLE", `${name}: no such socket`);
  if (error instanceof TrawlerError) return error;
  if (code === "ETIME") return new TrawlerError("TRAWLER_PLUGIN_TIMEOUT", `${name}: no connection before the deadline`);
  if (code === "EACCES" || code === "EPERM") return new TrawlerError("TRAWLER_DENIED", `${name}: access denied`);
  if (code === NO_ENTRY) {
    return new TrawlerError(
      "TRAWLER_DENIED",
      `${name}: the network namespace may not be entered (CAP_SYS_ADMIN), and no address is known from outside`,
    );
  }
  if (code === "EMFILE" || code === "ENFILE") return new TrawlerError("TRAWLER_LIMIT", `${name}: too many open files`);
  return new TrawlerError("TRAWLER_UNAVAILABLE", `${name}: ${TEXTS[code] ?? `cannot be reached (${code})`}`);
}
