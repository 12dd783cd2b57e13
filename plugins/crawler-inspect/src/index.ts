import { defineCrawler, TrawlerError } from "@trawler/plugin-api";
import * as z from "zod";

const text = (description: string) => z.string().nullable().describe(description);
const texts = (description: string) => z.array(z.string()).readonly().nullable().describe(description);
const flag = (description: string) => z.boolean().nullable().describe(description);

/** What a container was told to run with. Null = its runtime does not say. */
export default defineCrawler({
  name: "inspect",
  description: "Reports what a container was told to run with, as its runtime says.",
  config: z.strictObject({}),
  scope: "member",
  needs: ["meta"],
  onChange: true,
  features: {
    inspect: z.strictObject({
      source: z.enum(["docker", "cri"]).describe("Whose answer it is: Docker's API, or the CRI."),
      created: text("When it was made, RFC 3339."),
      pid: z
        .int()
        .nonnegative()
        .nullable()
        .meta({ "x-unit": "1", description: "Its first process in the node's namespace; null where none runs." }),
      commandLine: texts("Program and arguments, secrets redacted."),
      entrypoint: texts("The part of it that is the entry point; Docker alone tells the parts apart."),
      workingDirectory: text("Folder that it starts in."),
      user: text("Name or number, with a group or not; null also where Docker leaves it to the image."),
      environment: texts("Names of its variables; values may be secrets and are not there."),
      runtime: text("What starts it, such as `runc`."),
      platform: text("Operating system of its image."),
      storageDriver: text("What keeps its layers, such as `overlay2`."),
      restartPolicy: text("`no`, `always`, `unless-stopped`, `on-failure`; null in a pod: the kubelet restarts."),
      restartLimit: z
        .int()
        .nonnegative()
        .nullable()
        .meta({ "x-unit": "{restart}", description: "Most restarts of `on-failure`; null = no limit." }),
      privileged: flag("It has all rights of the node."),
      readOnlyRoot: flag("Its root file system is read-only."),
      noNewPrivileges: flag("Programs gain no rights by being run."),
      capabilitiesAdded: texts("Names without `CAP_`."),
      capabilitiesDropped: texts("Names without `CAP_`."),
      securityOptions: texts("As they were asked for, such as `seccomp=unconfined`."),
      hostNamespaces: texts(
        "Namespaces that are the node's by request: `network`, `pid`, `ipc`, `uts`, `user`, `cgroup`.",
      ),
      networkMode: text("Docker's word, such as `bridge`, `host`, `container:…`."),
      networks: texts("Docker's networks that it is attached to; of one that shares another's network, that one's."),
      bridges: texts("Linux bridges of those networks."),
      usesDefaultBridge: flag("It is attached to `docker0`, or what the engine has in its place."),
      ports: texts("Published ports, `0.0.0.0:8080->80/tcp`, and those that are only exposed, `80/tcp`."),
      logDriver: text("What writes its log."),
      logPath: text("Path of its log on the node."),
    }),
    mount: z.strictObject({
      destination: z.string().describe("Path in the container."),
      type: text("`bind`, `volume`, `tmpfs`, …."),
      source: text("Path on the node."),
      name: text("Name of the volume; Docker's alone."),
      readOnly: flag("It may not be written to."),
      propagation: text("`rprivate`, `rslave`, …."),
    }),
  },
  create: () => ({
    async *crawl({ meta: { workload, container } }) {
      // Where a frame is about one container, that is the subject itself.
      const one = container ?? (workload.kind === "container" ? workload.containers[0] : undefined);
      // A host, or one that its runtime does not have (yet).
      if (!one || one.id === null) return;
      if (one.inspection === undefined) {
        throw new TrawlerError("TRAWLER_UNSUPPORTED", "no runtime that can be asked says what it was told to run with");
      }
      const { source, createdAt: created, mounts, ...rest } = one.inspection;
      yield { type: "inspect", key: "inspect", value: { source, created, pid: one.handle.pid ?? null, ...rest } };
      const places = new Map(mounts.map((mount) => [mount.destination, mount]));
      for (const [destination, mount] of places) yield { type: "mount", key: destination, value: mount };
    },
  }),
});
