import { fakeConnect, fakeNet } from "@trawler/testkit";

/** A network in which a port answers every request with this page. */
export function serving(port: number, body: string, status = "200 OK") {
  const answer = `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
  return fakeNet({}, fakeConnect({ [port]: (socket) => void socket.once("data", () => socket.end(answer)) }));
}
