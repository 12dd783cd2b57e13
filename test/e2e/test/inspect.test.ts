import type { Frame } from "@trawler/plugin-api";
import { busyboxImage, kubectl } from "@trawler/testbed";
import { expect, test } from "vitest";
import { Agent, crawlOnce } from "../src/agent.ts";
import { container, feature } from "../src/frames.ts";
import { idle, pod } from "../src/manifests.ts";
import { apply, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { frameValidator } from "../src/validate.ts";

const CRAWLERS = { inspect: {}, "image-history": {}, image: {} };

const hardened = {
  runAsUser: 1000,
  runAsGroup: 1000,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

onNode("what a real containerd says of containers and images", "e2e-inspect", (namespace) => {
  const subject = `${namespace}/told`;

  test("parity P22, P23: inspections are what the pod's specification asked for, and stand by difference", async () => {
    await apply(
      pod(namespace, "told", {
        spec: { hostNetwork: true, volumes: [{ name: "carts", emptyDir: {} }] },
        containers: [
          {
            name: "hardened",
            command: ["/bin/sh", "-c", idle, "sh", "--password", "e2e-secret"],
            extra: {
              env: [{ name: "API_TOKEN", value: "e2e-secret" }],
              volumeMounts: [{ name: "carts", mountPath: "/carts", readOnly: true }],
              securityContext: hardened,
            },
          },
          { name: "free", extra: { securityContext: { privileged: true } } },
        ],
      }),
    );
    await podReady(namespace, "told");
    await using agent = await Agent.start({ every: "2s", crawlers: CRAWLERS });
    const frame = await agent.frames.next(subject, "whole", ({ metadata, containers }) => {
      return metadata.complete && containers.every((one) => feature(one, "inspect") !== undefined);
    });
    const value = feature(container(frame, "hardened"), "inspect");
    expect(value).toMatchObject({
      source: "cri",
      platform: "linux",
      commandLine: ["/bin/sh", "-c", idle, "sh", "--password", "[redacted]"],
      user: "1000:1000",
      privileged: false,
      readOnlyRoot: true,
      noNewPrivileges: true,
      capabilitiesAdded: ["NET_ADMIN"],
      capabilitiesDropped: ["ALL"],
      securityOptions: ["seccomp=runtime-default"],
      hostNamespaces: ["network"],
      // The CRI does not know them.
      networks: null,
      bridges: null,
      usesDefaultBridge: null,
      ports: null,
      restartPolicy: null,
    });
    expect(value?.["environment"]).toContain("API_TOKEN");
    expect(value?.["logPath"]).toMatch(/\/hardened\/0\.log$/);
    expect(feature(container(frame, "hardened"), "mount", "/carts")).toMatchObject({ type: "bind", readOnly: true });
    expect(feature(container(frame, "free"), "inspect")).toMatchObject({
      privileged: true,
      readOnlyRoot: false,
      noNewPrivileges: false,
    });

    const { stdout } = await kubectl(["get", "pod", "-n", namespace, "told", "-o", "jsonpath={..imageID}"]);
    const image = feature(container(frame, "free"), "image");
    expect(stdout).toContain(String(image?.["id"]));
    expect(image).toMatchObject({ tags: expect.arrayContaining([busyboxImage]), os: "linux" });
    expect(feature(container(frame, "free"), "imageHistory", "1")).toMatchObject({ size: null, empty: false });

    const next = await agent.frames.upcoming(subject, "an interval", ({ reason }) => reason === "interval");
    expect(feature(container(next, "hardened"), "inspect")).toBeUndefined();
    const digest = (of: Frame) => container(of, "hardened").digests?.["inspect"]?.digest;
    expect(digest(next)).toBe(digest(frame));
    expect(JSON.stringify(agent.frames.all)).not.toContain("e2e-secret");
    const validate = frameValidator();
    for (const one of agent.frames.of(subject)) expect(validate(one), JSON.stringify(one)).toEqual([]);
    for (const one of agent.frames.of(subject).flatMap(({ containers }) => containers))
      expect(one.problems).toEqual([]);
    expect(await agent.stop()).toBe(0);
  });

  test("where no runtime can be asked, the frame says that it is unsupported", async () => {
    const { frames, code } = await crawlOnce({
      pod: subject,
      crawlers: { inspect: {} },
      environment: { discovery: "api" },
    });
    expect(code).toBe(0);
    const problems = frames.flatMap(({ containers }) => containers.flatMap((one) => one.problems));
    expect(problems).toMatchObject([
      { crawler: "inspect", code: "unsupported" },
      { crawler: "inspect", code: "unsupported" },
    ]);
  });
});
