import { get, type Question } from "@trawler/application";
import type { NetworkAccess } from "@trawler/plugin-api";
import { type Failure, type Found, failureOf } from "./outcome.ts";
import { exact } from "./parse.ts";

/** Newest version of the API whose fields are known here. */
const NEWEST = 9;

/** Asks the API of NGINX Plus: its list of versions, then connections and requests of the newest that both know. */
export async function lookAtPlus(net: Pick<NetworkAccess, "connect">, question: Question): Promise<Found | Failure> {
  const { port } = question;
  const root = question.path.replace(/\/$/, "");
  const list = await get(net, { ...question, path: `${root}/` });
  const unlisted = failureOf(list, port);
  if (unlisted !== null || list.status === null) return unlisted ?? unsupported(port, "no answer");
  const version = newestVersion(list.body);
  if (version === null) return unsupported(port, "the path lists no API versions");
  const connections = await get(net, { ...question, path: `${root}/${version}/connections` });
  const requests = await get(net, { ...question, path: `${root}/${version}/http/requests` });
  if (connections.status !== 200 || requests.status !== 200)
    return unsupported(port, `version ${version} of the API lacks connections or requests`);
  const accepted = field(connections.body, "accepted");
  const dropped = field(connections.body, "dropped");
  const active = field(connections.body, "active");
  const total = field(requests.body, "total");
  if (accepted === null || dropped === null || active === null || total === null)
    return unsupported(port, `version ${version} of the API has other fields`);
  const status = {
    active,
    accepted,
    dropped,
    handled: exact(String(BigInt(accepted) - BigInt(dropped))),
    requests: total,
    reading: null,
    writing: null,
    waiting: field(connections.body, "idle"),
  };
  return { state: "ok", status, port, path: question.path, server: list.server };
}

/** Newest version in a list such as `[1,2,9]` that is known here; null where it is no such list. */
export function newestVersion(text: string): number | null {
  if (!/^\s*\[\s*\d{1,3}(\s*,\s*\d{1,3}){0,50}\s*\]\s*$/.test(text)) return null;
  const versions = (text.match(/\d+/g) ?? []).map(Number).filter((version) => version >= 1 && version <= NEWEST);
  return versions.length === 0 ? null : Math.max(...versions);
}

/** A counter of a flat JSON object, exact at any size. */
function field(text: string, name: string): number | bigint | null {
  const digits = new RegExp(`"${name}"\\s*:\\s*(\\d{1,20})\\b`).exec(text)?.[1];
  return digits === undefined ? null : exact(digits);
}

const unsupported = (port: number, reason: string): Failure => ({ state: "unsupported", reason, port });
