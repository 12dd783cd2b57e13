import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readImage } from "../src/cri/image.ts";
import { readInspection } from "../src/cri/inspection.ts";
import type { ContainerStatusResponse, ImageStatusResponse } from "../src/cri/messages.ts";
import { parseInfo } from "../src/cri/verbose.ts";
import { capture } from "./cri-fake.ts";

interface Inspected {
  readonly statuses: readonly ContainerStatusResponse[];
  readonly image: ImageStatusResponse;
}

/** What a real containerd said of a hardened container, of a privileged one, and of their image. */
const { statuses, image }: Inspected = JSON.parse(
  readFileSync(new URL("fixtures/cri-inspection.json", import.meta.url), "utf8"),
);

/** The real one is tested where it is; this shows that it is asked. */
const redact = (words: readonly string[]): readonly string[] => words.map((word) => word.replace("hunter2", "***"));

function inspect(name: string) {
  const found = statuses.find(({ status }) => status?.metadata?.name === name);
  if (found?.status == null) throw new Error(`no container ${name}`);
  return readInspection(found.status, parseInfo(found.info), redact);
}

describe("inspection", () => {
  it("says what a real containerd was told", () => {
    expect(inspect("web")).toMatchObject({
      source: "cri",
      createdAt: "2026-12-01T12:13:29.992Z",
      platform: "linux",
      storageDriver: "overlayfs",
      runtime: "io.containerd.runc.v2",
      user: "1000:1000",
      privileged: false,
      readOnlyRoot: true,
      noNewPrivileges: true,
      capabilitiesAdded: ["NET_ADMIN"],
      capabilitiesDropped: ["ALL"],
      securityOptions: ["seccomp=runtime-default"],
      hostNamespaces: ["network", "pid"],
    });
    expect(inspect("web").commandLine?.slice(-2)).toEqual(["--password", "***"]);
    expect(inspect("web").logPath).toMatch(/^\/var\/log\/pods\/.*\/web\/0\.log$/);
    expect(inspect("root")).toMatchObject({
      privileged: true,
      readOnlyRoot: false,
      noNewPrivileges: false,
      securityOptions: ["seccomp=unconfined"],
    });
  });

  it("lists what comes from the node, and not the kernel's own file systems", () => {
    const { mounts } = inspect("web");
    expect(mounts.map(({ destination }) => destination)).toContain("/carts");
    expect(mounts.map(({ destination }) => destination)).not.toContain("/proc");
    expect(mounts.find(({ destination }) => destination === "/certs")).toEqual({
      type: "bind",
      source: "/etc/ssl",
      destination: "/certs",
      name: null,
      readOnly: true,
      propagation: "rprivate",
    });
  });

  it("holds the environment by its names only", () => {
    expect(inspect("web").environment).toContain("DB_PASSWORD");
    expect(JSON.stringify(inspect("web"))).not.toContain("hunter2");
  });

  it("leaves to null what the CRI does not know", () => {
    expect(inspect("web")).toMatchObject({ networks: null, bridges: null, usesDefaultBridge: null, ports: null });
    const [crio] = capture("crio").containerStatuses;
    if (crio?.status == null) throw new Error("no status");
    // CRI-O gives no configuration of the CRI, and says itself whether it is privileged.
    const status = { ...crio.status, logPath: "" };
    expect(readInspection(status, parseInfo(crio.info), redact)).toMatchObject({
      privileged: false,
      capabilitiesAdded: null,
      hostNamespaces: null,
      securityOptions: null,
      logPath: null,
    });
    expect(readInspection(status, null, redact)).toMatchObject({
      platform: null,
      commandLine: null,
      user: null,
      environment: null,
      privileged: null,
      readOnlyRoot: null,
      mounts: [],
    });
  });

  it("meets noise without an error", () => {
    const status = statuses[0]?.status;
    if (status == null) throw new Error("no status");
    for (const noise of [{ runtimeSpec: 1 }, { runtimeSpec: { process: [], mounts: [1, null, {}], root: "x" } }]) {
      expect(readInspection(status, noise, redact).mounts).toEqual([]);
    }
  });
});

describe("image", () => {
  it("says what a real containerd knows", () => {
    const read = readImage(image, redact);
    expect(read).toMatchObject({
      source: "cri",
      id: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      tags: ["registry.example.test/busybox:1.35"],
      architecture: "amd64",
      os: "linux",
      truncated: false,
    });
    expect(read?.steps).toEqual([
      {
        createdAt: "2024-01-01T00:00:00.000Z",
        command: "trawler testbed",
        comment: null,
        size: null,
        empty: false,
        layer: read?.layers[0],
      },
    ]);
  });

  const built = (imageSpec: unknown): ImageStatusResponse => ({
    image: { id: "sha256:i", repoTags: [], size: "0" },
    info: { info: JSON.stringify({ imageSpec }) },
  });

  it("parity P23: gives each step the layer that it made, and redacts its command", () => {
    const history = [
      { created: "1970-01-01T00:00:00Z", created_by: "ADD rootfs.tar /" },
      { created_by: "ENV PASSWORD=hunter2", empty_layer: true },
      { created_by: "RUN make", comment: "buildkit" },
    ];
    const read = readImage(built({ history, rootfs: { diff_ids: ["sha256:a", "sha256:b"] } }), redact);
    expect(read?.steps).toMatchObject([
      { createdAt: null, command: "ADD rootfs.tar /", empty: false, layer: "sha256:a" },
      { command: "ENV PASSWORD=***", empty: true, layer: null },
      { command: "RUN make", comment: "buildkit", empty: false, layer: "sha256:b" },
    ]);
    expect(read).toMatchObject({ createdAt: null, size: null });
  });

  it("is bounded, and says so", () => {
    const history = Array.from({ length: 150 }, (_, index) => ({ created_by: `step ${index}` }));
    const read = readImage(built({ history }), redact);
    expect(read?.steps).toHaveLength(100);
    expect(read?.steps?.at(-1)?.command).toBe("step 149");
    expect(read?.truncated).toBe(true);
    expect(readImage(built({ history: [{ created_by: "x".repeat(5000) }] }), redact)?.truncated).toBe(true);
  });

  it("is null where it is not there, and without steps where the runtime does not tell them", () => {
    expect(readImage({ image: null, info: {} }, redact)).toBeNull();
    expect(readImage({ ...built({}), info: {} }, redact)).toMatchObject({ steps: null, layers: [] });
    expect(readImage(built({ history: [null, 1, {}] }), redact)?.steps).toHaveLength(3);
  });
});
