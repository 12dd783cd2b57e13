import { hex } from "./random.ts";

/** What is put in place of them depends on the pod's number; each is as long as what replaces it. */
export const MARKS = {
  uid: "@UID@".padEnd(36, "u"),
  name: "@NAME@".padEnd(16, "n"),
  version: "@VERSION@".padEnd(10, "v"),
  node: "@NODE@".padEnd(10, "o"),
  address: "@ADDRESS@".padEnd(14, "a"),
  // With its quotes: shorter words are filled up behind them.
  phase: '"@PHASE@p"',
  id0: "@ID0@".padEnd(64, "0"),
  id1: "@ID1@".padEnd(64, "1"),
  id2: "@ID2@".padEnd(64, "2"),
} as const;

/** A running pod of three containers, as an API server keeps it. */
export function makePod(random: () => number): object {
  const team = `team-${Math.floor(random() * 400)}`;
  const hash = hex(random, 10);
  const containers = ["main", "proxy", "metrics"].map((name) => makeContainer(name, random));
  const labels = {
    app: `service-${hex(random, 6)}`,
    "app.kubernetes.io/name": `service-${hex(random, 6)}`,
    "app.kubernetes.io/instance": `release-${hex(random, 8)}`,
    "app.kubernetes.io/version": `${Math.floor(random() * 9)}.${Math.floor(random() * 30)}.${Math.floor(random() * 9)}`,
    "pod-template-hash": hash,
    "topology.kubernetes.io/zone": `zone-${Math.floor(random() * 3)}`,
    team,
  };
  return {
    metadata: {
      name: MARKS.name,
      generateName: `app-${hash}-`,
      namespace: `ns-${Math.floor(random() * 300)}`,
      uid: MARKS.uid,
      resourceVersion: MARKS.version,
      creationTimestamp: time(random),
      labels,
      annotations: {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": "9102",
        [`checksum/config`]: hex(random, 64),
        "kubectl.kubernetes.io/restartedAt": time(random),
      },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: `app-${hash}`,
          uid: `${hex(random, 8)}-${hex(random, 4)}-${hex(random, 4)}-${hex(random, 4)}-${hex(random, 12)}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields(labels, containers, random),
    },
    spec: {
      volumes: [
        { name: "config", configMap: { name: `config-${hex(random, 6)}`, defaultMode: 420 } },
        { name: "secrets", secret: { secretName: `secret-${hex(random, 6)}`, defaultMode: 420 } },
        { name: "scratch", emptyDir: { sizeLimit: "1Gi" } },
        projectedToken(random),
      ],
      containers,
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      serviceAccountName: `account-${hex(random, 6)}`,
      serviceAccount: `account-${hex(random, 6)}`,
      nodeName: MARKS.node,
      securityContext: { runAsNonRoot: true, fsGroup: 2000, seccompProfile: { type: "RuntimeDefault" } },
      schedulerName: "default-scheduler",
      tolerations: ["not-ready", "unreachable"].map((what) => ({
        key: `node.kubernetes.io/${what}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      })),
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: "PreemptLowerPriority",
    },
    status: {
      phase: MARKS.phase.slice(1, -1),
      conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(
        (type) => ({ type, status: "True", lastProbeTime: null, lastTransitionTime: time(random) }),
      ),
      hostIP: "192.168.0.17",
      hostIPs: [{ ip: "192.168.0.17" }],
      podIP: MARKS.address,
      podIPs: [{ ip: MARKS.address }],
      startTime: time(random),
      containerStatuses: containers.map(({ name, image }, index) => ({
        name,
        state: { running: { startedAt: time(random) } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image,
        imageID: `${image.split("@")[0]}@sha256:${hex(random, 64)}`,
        containerID: `containerd://${[MARKS.id0, MARKS.id1, MARKS.id2][index] ?? MARKS.id0}`,
        started: true,
        resources: { requests: { cpu: "250m", memory: "256Mi" }, limits: { cpu: "1", memory: "512Mi" } },
      })),
      qosClass: "Burstable",
    },
  };
}

function makeContainer(name: string, random: () => number) {
  return {
    name,
    image: `registry.example/${hex(random, 6)}/${name}:${hex(random, 8)}`,
    args: ["--config=/etc/app/config.yaml", `--shard=${hex(random, 4)}`, "--log-format=json"],
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    env: Array.from({ length: 10 }, (_, index) =>
      index % 3 === 0
        ? { name: `SECRET_${index}`, valueFrom: { secretKeyRef: { name: `secret-${hex(random, 6)}`, key: "value" } } }
        : { name: `SETTING_${index}`, value: `value-${hex(random, 18)}` },
    ),
    resources: { limits: { cpu: "1", memory: "512Mi" }, requests: { cpu: "250m", memory: "256Mi" } },
    volumeMounts: [
      { name: "config", mountPath: "/etc/app", readOnly: true },
      { name: "secrets", mountPath: "/etc/secrets", readOnly: true },
      { name: "scratch", mountPath: "/tmp" },
      { name: "kube-api-access", readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
    ],
    livenessProbe: probe("/healthz"),
    readinessProbe: probe("/readyz"),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: "IfNotPresent",
    securityContext: {
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    },
  };
}

function probe(path: string): object {
  return {
    httpGet: { path, port: "http", scheme: "HTTP" },
    initialDelaySeconds: 5,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  };
}

function projectedToken(random: () => number): object {
  return {
    name: `kube-api-access-${hex(random, 5)}`,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      ],
      defaultMode: 420,
    },
  };
}

/** As a server keeps them for each field: more than a third of a pod. */
function managedFields(
  labels: Readonly<Record<string, string>>,
  containers: readonly { readonly name: string; readonly env: readonly { readonly name: string }[] }[],
  random: () => number,
): readonly object[] {
  const fields = (names: readonly string[]) => Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
  const ofContainers = containers.map(({ name, env }) => [
    `k:{"name":"${name}"}`,
    {
      ".": {},
      ...fields(["args", "image", "imagePullPolicy", "name", "terminationMessagePath", "terminationMessagePolicy"]),
      "f:env": { ".": {}, ...Object.fromEntries(env.map((one) => [`k:{"name":"${one.name}"}`, fields(["name"])])) },
      "f:livenessProbe": { ".": {}, ...fields(["failureThreshold", "periodSeconds", "timeoutSeconds"]) },
      "f:readinessProbe": { ".": {}, ...fields(["failureThreshold", "periodSeconds", "timeoutSeconds"]) },
      "f:resources": { ".": {}, "f:limits": fields(["cpu", "memory"]), "f:requests": fields(["cpu", "memory"]) },
      "f:securityContext": fields(["allowPrivilegeEscalation", "capabilities", "readOnlyRootFilesystem"]),
      "f:volumeMounts": Object.fromEntries(
        ["/etc/app", "/etc/secrets", "/tmp"].map((path) => [`k:{"mountPath":"${path}"}`, fields(["name"])]),
      ),
    },
  ]);
  const spec = {
    "f:metadata": { "f:generateName": {}, "f:labels": { ".": {}, ...fields(Object.keys(labels)) } },
    "f:spec": { "f:containers": Object.fromEntries(ofContainers), ...fields(["dnsPolicy", "restartPolicy"]) },
  };
  const status = {
    "f:status": {
      "f:conditions": Object.fromEntries(
        ["ContainersReady", "Initialized", "Ready", "PodScheduled"].map((type) => [
          `k:{"type":"${type}"}`,
          { ".": {}, ...fields(["lastProbeTime", "lastTransitionTime", "status", "type"]) },
        ]),
      ),
      ...fields(["containerStatuses", "hostIP", "phase", "podIP", "podIPs", "startTime"]),
    },
  };
  const entry = { operation: "Update", apiVersion: "v1", time: time(random), fieldsType: "FieldsV1" };
  return [
    { manager: "kube-controller-manager", ...entry, fieldsV1: spec },
    { manager: "kubelet", ...entry, fieldsV1: status, subresource: "status" },
  ];
}

function time(random: () => number): string {
  return new Date(1_780_000_000_000 + Math.floor(random() * 8.64e8)).toISOString().replace(/\.\d+/, "");
}
