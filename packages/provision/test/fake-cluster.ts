import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

export interface FakeCluster extends AsyncDisposable {
  readonly url: string;
  /** `namespace/name` of each ConfigMap or Secret that is there. */
  readonly objects: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Objects that were made, in this order, also those that have gone. */
  readonly made: readonly string[];
  /** Requests that change something. */
  readonly writes: readonly string[];
  /** Paths that were read, lists among them. */
  readonly reads: readonly string[];
  /** Waited for before an object is made; its name is given. */
  gate: (name: string) => Promise<void> | undefined;
  /** The status that the creation of this name gets instead. */
  refuse: (name: string) => number | undefined;
  /** Whether we may do that. */
  allow: (verb: string, plural: string) => boolean;
}

/**
 * A cluster of ConfigMaps and Secrets that a test can hold up in the middle of a run: when a real one answers, it alone
 * knows. What the server itself decides is tested on a real one.
 */
export async function fakeCluster(): Promise<FakeCluster> {
  const objects = new Map<string, Readonly<Record<string, unknown>>>();
  const made: string[] = [];
  const writes: string[] = [];
  const reads: string[] = [];
  let uid = 0;

  const create = async (path: string, body: string): Promise<[number, object]> => {
    const object = JSON.parse(body);
    const { name } = object.metadata;
    const key = `${path.split("/")[4]}/${name}`;
    await cluster.gate(name);
    const refused = cluster.refuse(name);
    if (refused !== undefined) return [refused, { reason: "Invalid", message: `${name} is refused` }];
    if (objects.has(key)) return [409, { reason: "AlreadyExists", message: `"${name}" already exists` }];
    const stored = { ...object, metadata: { ...object.metadata, uid: `uid-${++uid}`, resourceVersion: `${uid}` } };
    objects.set(key, stored);
    made.push(key);
    return [201, stored];
  };

  const remove = (key: string, body: string): [number, object] => {
    const found = JSON.parse(JSON.stringify(objects.get(key) ?? null));
    if (found === null) return [404, { reason: "NotFound" }];
    if (JSON.parse(body).preconditions.uid !== found.metadata.uid) return [409, { reason: "Conflict" }];
    objects.delete(key);
    return [200, { kind: "Status", status: "Success" }];
  };

  const answer = async (incoming: IncomingMessage): Promise<[number, object]> => {
    const url = new URL(incoming.url ?? "/", "http://fake");
    const body = await text(incoming);
    const parts = url.pathname.split("/");
    if (url.pathname === "/api/v1") return [200, RESOURCES];
    if (url.pathname.endsWith("/selfsubjectaccessreviews")) {
      const { verb, resource } = JSON.parse(body).spec.resourceAttributes;
      return [201, { status: { allowed: cluster.allow(verb, resource) } }];
    }
    if (url.searchParams.get("dryRun") === "All") return [201, JSON.parse(body)];
    if (incoming.method === "GET") reads.push(url.pathname);
    else writes.push(`${incoming.method} ${url.pathname}`);
    if (incoming.method === "POST") return create(url.pathname, body);
    const key = `${parts[4]}/${parts[6]}`;
    if (incoming.method === "DELETE") return remove(key, body);
    if (parts.length === 5) return [200, { kind: "Namespace", metadata: { name: parts[4], uid: "uid-namespace" } }];
    if (parts.length === 6) return [200, { kind: "List", items: [] }];
    const found = objects.get(key);
    return found === undefined ? [404, { reason: "NotFound", message: "not found" }] : [200, found];
  };

  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    answer(incoming).then(
      ([status, body]) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
      () => incoming.socket.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const cluster: FakeCluster = {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    objects,
    made,
    writes,
    reads,
    gate: () => undefined,
    refuse: () => undefined,
    allow: () => true,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return cluster;
}

const VERBS = ["create", "delete", "get", "list"];
const RESOURCES = {
  kind: "APIResourceList",
  groupVersion: "v1",
  resources: [
    { name: "configmaps", kind: "ConfigMap", namespaced: true, verbs: VERBS },
    { name: "secrets", kind: "Secret", namespaced: true, verbs: VERBS },
  ],
};
