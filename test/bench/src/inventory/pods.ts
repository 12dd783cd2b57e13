/** A pod with room for what differs: rendered once, then only patched, so that making it costs next to nothing. */
interface Template {
  readonly bytes: Buffer;
  /** Where each mark stands. */
  readonly marks: ReadonlyMap<string, readonly number[]>;
}

/** What of a pod depends on its number. */
export interface PodShape {
  /** Counts from 0; UID, name, node, addresses and container ids follow from it. */
  readonly index: number;
  readonly version: number;
  readonly phase: "Pending" | "Running" | "Succeeded";
}

export interface PodFactory {
  /** The pod's JSON in UTF-8, about 14.5 KB. */
  render(shape: PodShape): Buffer;
}

/** Different ones, so that what packs bytes finds as little to save as in a cluster. */
const TEMPLATES = 96;
const NODES = 5000;
const MARKS = {
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
type Mark = keyof typeof MARKS;

export function podFactory(seed = 1): PodFactory {
  const random = generator(seed);
  const templates = Array.from({ length: TEMPLATES }, () => makeTemplate(random));
  return {
    render: ({ index, version, phase }) => {
      const { bytes, marks } = templates[index % TEMPLATES] ?? makeTemplate(random);
      const pod = Buffer.from(bytes);
      const put = (mark: Mark, text: string): void => {
        for (const at of marks.get(mark) ?? []) pod.write(text, at, "latin1");
      };
      put("uid", uidOf(index));
      put("name", `app-${String(index).padStart(12, "0")}`);
      put("version", String(version).padStart(10, "1"));
      put("node", nodeOf(index));
      put("address", [10, 100 + (index % 150), 100 + ((index >> 8) % 150), 100 + ((index >> 16) % 150)].join("."));
      put("phase", JSON.stringify(phase).padEnd(MARKS.phase.length));
      for (const [slot, id] of (["id0", "id1", "id2"] as const).entries()) put(id, idOf(index, slot));
      return pod;
    },
  };
}

/** Where unlike ids are taken from. */
const DIGITS = hex(generator(42), 65_536);

export function uidOf(index: number): string {
  const at = (index * 37) % (DIGITS.length - 24);
  const part = (from: number, to: number): string => DIGITS.slice(at + from, at + to);
  return `${String(index).padStart(8, "0")}-${part(0, 4)}-${part(4, 8)}-${part(8, 12)}-${part(12, 24)}`;
}

function idOf(index: number, slot: number): string {
  const at = (index * 191 + slot * 67) % (DIGITS.length - 64);
  return `${String(index).padStart(8, "0")}${DIGITS.slice(at, at + 56)}`;
}

export function nodeOf(index: number): string {
  return `node-${String(index % NODES).padStart(5, "0")}`;
}

function makeTemplate(random: () => number): Template {
  const bytes = Buffer.from(JSON.stringify(makePod(random)));
  const marks = new Map<string, readonly number[]>();
  for (const [name, text] of Object.entries(MARKS)) {
    const found: number[] = [];
    for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) found.push(at);
    marks.set(name, found);
  }
  return { bytes, marks };
}

function makePod(random: () => number): object {
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

/** Numbers from 0 to 1, the same ones for the same seed (xorshift). */
export function generator(seed: number): () => number {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}

function hex(random: () => number, length: number): string {
  let text = "";
  while (text.length < length)
    text += Math.floor(random() * 4_294_967_296)
      .toString(16)
      .padStart(8, "0");
  return text.slice(0, length);
}
