import { get, type Question } from "@trawler/application";
import type { NetworkAccess } from "@trawler/plugin-api";
import { type Failure, type Found, failureOf } from "./outcome.ts";
import { kindOfPage, parseStubStatus } from "./parse.ts";
import { lookAtPlus } from "./plus.ts";

/** Asks one path of one port for its status: the commercial API where the path ends in `/api`, else stub_status. */
export async function look(net: Pick<NetworkAccess, "connect">, question: Question): Promise<Found | Failure> {
  const { port, path } = question;
  if (/\/api\/?$/.test(path)) return lookAtPlus(net, question);
  const answer = await get(net, question);
  const failure = failureOf(answer, port);
  if (failure !== null || answer.status === null) return failure ?? { state: "down", reason: "no answer", port };
  const status = parseStubStatus(answer.body);
  if (status === null) return { state: "not_stub_status", reason: kindOfPage(answer.body), port };
  return { state: "ok", status, port, path, server: answer.server };
}
