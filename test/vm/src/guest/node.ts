import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { askApi, createObject } from "./api.ts";
import { guestPaths } from "./paths.ts";
import type { GuestPod } from "./result.ts";
import { startService } from "./services.ts";
import { waitUntil } from "./wait.ts";

const data = (name: string): string => join(guestPaths.data, name);
const pki = (name: string): string => join(guestPaths.pki, name);
const etcdUrl = "http://127.0.0.1:2379";

const startEtcd = (): void =>
  startService("etcd", "etcd", [
    "--data-dir=/var/lib/etcd-vm",
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    "--unsafe-no-fsync",
  ]);

const startApiServer = (): void =>
  startService("kube-apiserver", join(guestPaths.kubernetes, "kube-apiserver"), [
    `--etcd-servers=${etcdUrl}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${new URL(guestPaths.api).port}`,
    `--tls-cert-file=${pki("apiserver.crt")}`,
    `--tls-private-key-file=${pki("apiserver.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-signing-key-file=${pki("sa.key")}`,
    `--service-account-key-file=${pki("sa.pub")}`,
    `--token-auth-file=${data("tokens.csv")}`,
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.89.0.0/24",
    "--disable-admission-plugins=ServiceAccount",
    "--endpoint-reconciler-type=none",
  ]);

const startKubelet = (nodeName: string): void =>
  startService("kubelet", join(guestPaths.kubernetes, "kubelet"), [
    `--config=${data("kubelet.yaml")}`,
    `--kubeconfig=${data("admin.kubeconfig")}`,
    `--hostname-override=${nodeName}`,
    "--node-ip=127.0.0.1",
  ]);

const accepts = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    const answer = (open: boolean) => () => {
      socket.destroy();
      resolve(open);
    };
    socket.on("connect", answer(true)).on("error", answer(false));
  });

/** Pods of all namespaces, once each container of at least `count` pods is ready. */
const readyPods = async (count: number): Promise<readonly GuestPod[] | undefined> => {
  const { body } = await askApi("GET", "/api/v1/pods");
  const { items } = JSON.parse(body) as { readonly items: readonly GuestPod[] };
  const ready = items.filter(({ spec, status }) => {
    const statuses = status.containerStatuses ?? [];
    return statuses.length === spec.containers.length && statuses.every((one) => one.ready);
  });
  return ready.length >= count ? ready : undefined;
};

export interface NodeObjects {
  readonly node: string;
  /** Path of the collection and the object to create there, in this order. */
  readonly objects: readonly (readonly [string, object])[];
  /** Pods that must be ready in the end, static ones included. */
  readonly pods: number;
}

/** Brings the node up with its pods; answers when each is ready. */
export const startNode = async (say: (line: string) => void): Promise<readonly GuestPod[]> => {
  const { node, objects, pods } = JSON.parse(readFileSync(data("objects.json"), "utf8")) as NodeObjects;
  startService("containerd", join(guestPaths.containerd, "containerd"), ["--config", data("containerd.toml")]);
  startEtcd();
  startApiServer();
  await waitUntil("the API server", async () => (await askApi("GET", "/readyz")).body === "ok");
  say("the API server serves");
  await waitUntil("containerd", () => accepts(guestPaths.criSocket));
  startKubelet(node);
  for (const [path, object] of objects) await createObject(path, object);
  say("the pods are declared");
  return waitUntil("the pods to be ready", () => readyPods(pods));
};
