import { fakeConnect, fakeNet, httpAnswer } from "@trawler/testkit";

/** A network in which a port answers every request with this page. */
export function serving(port: number, body: string, status = "200 OK") {
  return fakeNet({}, fakeConnect({ [port]: httpAnswer(body, status) }));
}
