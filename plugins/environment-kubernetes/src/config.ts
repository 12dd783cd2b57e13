import { isAbsolute } from "node:path";
import * as z from "zod";

const path = z.string().refine(isAbsolute, "expected an absolute path");
const socket = z.string().regex(/^(unix:(\/\/)?)?\//, "expected the absolute path of a socket, or unix:///path");
const glob = z.string().min(1).max(253);
const rules = {
  namespaces: z.array(glob).default([]).describe("Namespaces, by name or glob with * and ?."),
  labels: z.record(z.string(), z.string()).default({}).describe("Labels and their values, each a glob."),
  annotations: z.record(z.string(), z.string()).default({}).describe("Annotations and their values, each a glob."),
  containers: z.array(glob).default([]).describe("Names of containers, each a glob."),
};

export const config = z.strictObject({
  discovery: z
    .enum(["auto", "cri", "api"])
    .default("auto")
    .describe("What runs is told by the container runtime (cri), or by the API server and the cgroup tree (api)."),
  sockets: z
    .array(socket)
    .default([])
    .describe(
      "Sockets of the runtime; else CONTAINER_RUNTIME_ENDPOINT, else the usual ones. An open one rules the node.",
    ),
  api: z.boolean().default(true).describe("Ask the API server for metadata."),
  kubeconfig: path
    .optional()
    .describe("File with the API server's address and credentials; else the service account, else KUBECONFIG."),
  context: z.string().min(1).optional().describe("Context of that file; else its current one."),
  kubelet: z
    .strictObject({
      root: path.default("/var/lib/kubelet").describe("The kubelet's folder on the node."),
      podsApi: path
        .optional()
        .describe("Socket of the kubelet's Pods API; else pods-api/pods-api.sock below its root."),
    })
    .prefault({})
    .describe("Where the kubelet keeps pods; used while the API server is away."),
  include: z
    .strictObject(rules)
    .prefault({})
    .describe("Only pods in one of the namespaces, with all labels and annotations; only these containers."),
  exclude: z
    .strictObject(rules)
    .prefault({})
    .describe("No pods in one of the namespaces or with one of the labels or annotations; not these containers."),
  sandboxImages: z
    .array(z.string().min(1))
    .default([])
    .describe("Exact images that are sandboxes though the runtime does not say so. Needed with no known runtime."),
});

export type Config = z.output<typeof config>;
