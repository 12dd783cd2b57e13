import type { Container, Workload } from "@trawler/plugin-api";

/** A running app container named `app` of image `registry.example.test/shop/app:1`. */
export function fakeContainer(overrides: Partial<Container> = {}): Container {
  const id = overrides.id === undefined ? "c".repeat(64) : overrides.id;
  const running = { status: "running", startedAt: "2025-12-31T23:00:00.000Z" } as const;
  return {
    name: "app",
    id,
    image: "registry.example.test/shop/app:1",
    digest: null,
    type: "app",
    state: { ...running, reason: null, finishedAt: null, exitCode: null, restarts: 0, lastTermination: null },
    resource: { "k8s.container.name": overrides.name ?? "app", ...(id !== null && { "container.id": id }) },
    resources: null,
    handle: { pid: 100, ...(id !== null && { containerId: id }) },
    ...overrides,
  };
}

/** A running pod `shop/cart-0` with complete metadata and one container. */
export function fakeWorkload(overrides: Partial<Workload> = {}): Workload {
  const id = overrides.id ?? "549c0000-0000-4000-8000-000000000001";
  return {
    kind: "pod",
    id,
    name: "shop/cart-0",
    lifecycle: "running",
    handle: { podUid: id, cgroup: `/kubepods/pod${id}` },
    sandbox: null,
    containers: [fakeContainer()],
    resource: { "k8s.namespace.name": "shop", "k8s.pod.name": "cart-0", "k8s.pod.uid": id, "k8s.pod.ip": "10.88.0.5" },
    labels: {},
    annotations: {},
    status: null,
    metadata: { complete: true, reason: null, groups: {} },
    ...overrides,
  };
}
