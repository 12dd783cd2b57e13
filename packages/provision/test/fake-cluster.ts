import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

export interface FakeCluster extends AsyncDisposable {
  readonly url: string;
  /** `namespace/name` of each ConfigMap or Secret that is there. */
  readonly objects: Map<string, Readonly<Record<string, unknown>>>;
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
  allow: (verb: string, plural: string, namespace: string | null) => boolean;
  /** The answer that a request gets instead, before anything of it is done. */
  interfere: (method: string, path: string, dryRun: boolean) => readonly [status: number, body: object] | undefined;
  /** Whether the answer to a creation, that is done, gets lost. */
  lose: () => boolean;
  /** What an object becomes as it is kept. */
  keep: (object: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
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
    const name = object.metadata.name ?? `${object.metadata.generateName}${uid + 1}`;
    const key = keyOf(path, name);
    await cluster.gate(name);
    const refused = cluster.refuse(name);
    if (refused !== undefined) return [refused, { reason: "Invalid", message: `${name} is refused` }];
    if (objects.has(key)) return [409, { reason: "AlreadyExists", message: `"${name}" already exists` }];
    const metadata = { ...object.metadata, name, uid: `uid-${++uid}`, resourceVersion: `${uid}` };
    const stored = cluster.keep({ ...object, metadata });
    objects.set(key, stored);
    made.push(key);
    if (cluster.lose()) throw new Error("lost");
    return [201, stored];
  };

  const remove = (key: string, body: string): [number, object] => {
    const found = JSON.parse(JSON.stringify(objects.get(key) ?? null));
    if (found === null) return [404, { reason: "NotFound" }];
    if (JSON.parse(body).preconditions.uid !== found.metadata.uid) return [409, { reason: "Conflict" }];
    objects.delete(key);
    return [200, { kind: "Status", status: "Success" }];
  };

  const listed = (namespace: string | null, plural: string, query: URLSearchParams): readonly object[] => {
    const [label, value] = (query.get("labelSelector") ?? "").split("=");
    return [...objects.values()].filter((object) => {
      const { kind, metadata } = JSON.parse(JSON.stringify(object));
      if (`${String(kind).toLowerCase()}s` !== plural || metadata.namespace !== (namespace ?? undefined)) return false;
      // Only equality is known here: `!=` finds nothing.
      return !label || metadata.labels?.[label] === value;
    });
  };

  const answer = async (incoming: IncomingMessage): Promise<[number, object]> => {
    const url = new URL(incoming.url ?? "/", "http://fake");
    const body = await text(incoming);
    if (url.pathname === "/api/v1") return [200, RESOURCES];
    if (url.pathname.endsWith("/selfsubjectaccessreviews")) {
      const { verb, resource, namespace = null } = JSON.parse(body).spec.resourceAttributes;
      return [201, { status: { allowed: cluster.allow(verb, resource, namespace) } }];
    }
    const dryRun = url.searchParams.get("dryRun") === "All";
    const instead = cluster.interfere(incoming.method ?? "", url.pathname, dryRun);
    if (instead !== undefined) return [instead[0], instead[1]];
    if (dryRun) return [201, JSON.parse(body)];
    if (incoming.method === "GET") reads.push(url.pathname);
    else writes.push(`${incoming.method} ${url.pathname}`);
    if (incoming.method === "POST") return create(url.pathname, body);
    const { namespace, plural, name } = partsOf(url.pathname);
    const key = keyOf(url.pathname, name);
    if (incoming.method === "DELETE") return remove(key, body);
    if (name === "") return [200, { kind: "List", items: listed(namespace, plural, url.searchParams) }];
    if (plural === "namespaces" && (name === "shop" || name === "kube-system"))
      return [200, { kind: "Namespace", metadata: { name, uid: `uid-of-${name}` } }];
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
    interfere: () => undefined,
    lose: () => false,
    keep: (object) => object,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return cluster;
}

/** Of `/api/v1/…` or `/apis/GROUP/VERSION/…`. */
function partsOf(path: string): { readonly namespace: string | null; readonly plural: string; readonly name: string } {
  const parts = path.split("/").slice(path.startsWith("/apis/") ? 4 : 3);
  if (parts[0] === "namespaces" && parts.length > 2)
    return { namespace: parts[1] ?? "", plural: parts[2] ?? "", name: parts[3] ?? "" };
  return { namespace: null, plural: parts[0] ?? "", name: parts[1] ?? "" };
}

function keyOf(path: string, name: string): string {
  return `${partsOf(path).namespace ?? ""}/${name}`;
}

const VERBS = ["create", "delete", "get", "list"];
const RESOURCES = {
  kind: "APIResourceList",
  groupVersion: "v1",
  resources: [
    { name: "configmaps", kind: "ConfigMap", namespaced: true, verbs: VERBS },
    { name: "secrets", kind: "Secret", namespaced: true, verbs: VERBS },
    { name: "namespaces", kind: "Namespace", namespaced: false, verbs: VERBS },
    { name: "replicationcontrollers", kind: "ReplicationController", namespaced: true, verbs: VERBS },
    { name: "persistentvolumeclaims", kind: "PersistentVolumeClaim", namespaced: true, verbs: VERBS },
  ],
};
