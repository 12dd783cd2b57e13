import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type NetworkAccess, TrawlerError } from "@trawler/plugin-api";

/** What stands behind one address: it is handed the server's end of each connection. */
export type Handler = (socket: Socket) => void;

/**
 * `connect` of a network in which these handlers listen, by port or path of a unix socket. Each call makes a server of
 * its own on loopback that takes one connection: nothing is left to close. Other targets are refused.
 */
export function fakeConnect(handlers: Readonly<Record<string, Handler>>): NetworkAccess["connect"] {
  return async (target, options) => {
    const name = "unix" in target ? target.unix : String(target.port);
    const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
    if (!handler) throw new TrawlerError("TRAWLER_UNAVAILABLE", `connection to ${name} refused`);
    options?.signal?.throwIfAborted();
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      handler(socket);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const client = connect(port, "127.0.0.1");
    await Promise.all([once(client, "connect"), once(server, "connection")]);
    server.close();
    return client;
  };
}

/** Answers the first bytes of each connection with one HTTP answer that holds this body, then closes. */
export function httpAnswer(body: string, status = "200 OK", headers: readonly string[] = []): Handler {
  const head = [`HTTP/1.1 ${status}`, `Content-Length: ${Buffer.byteLength(body)}`, "Connection: close", ...headers];
  return (socket) => void socket.once("data", () => socket.end(`${head.join("\r\n")}\r\n\r\n${body}`));
}

/** What a real server said, in order, as base64; `first` = before the client said anything. */
export interface Recording {
  readonly first: boolean;
  readonly answers: readonly string[];
}

/** Plays a recording to each connection: one answer for each message of the client, then silence. */
export function replay({ first, answers }: Recording): Handler {
  return (socket) => {
    const rest = answers.map((answer) => Buffer.from(answer, "base64"));
    const next = (): void => {
      const answer = rest.shift();
      if (answer !== undefined) socket.write(answer);
    };
    if (first) next();
    socket.on("data", next);
  };
}
