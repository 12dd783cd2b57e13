import { join } from "node:path";
import type { BuiltImages } from "./build-images.ts";
import { dockerArgs } from "./components-docker.ts";
import type { Layout } from "./layout.ts";
import type { Progress } from "./progress.ts";
import { run } from "./run.ts";

/** The name under which containerd knows an image: Docker's short names get their registry. */
export const canonicalName = (name: string): string => {
  const [first = ""] = name.split("/");
  if (!name.includes("/")) return `docker.io/library/${name}`;
  return first.includes(".") || first.includes(":") || first === "localhost" ? name : `docker.io/${name}`;
};

/** Gives the node's containerd the images that it lacks. */
export const importImages = async (
  layout: Layout,
  { archive, names }: BuiltImages,
  progress: Progress,
): Promise<void> => {
  const ctr = (...args: string[]) =>
    run(join(layout.bin, "ctr"), ["-a", layout.containerdSocket, "-n", "k8s.io", "images", ...args], {
      deadline: 300_000,
    });
  const present = new Set((await ctr("ls", "-q")).stdout.split("\n"));
  if (names.every((name) => present.has(canonicalName(name)))) return;
  progress("importing the images");
  await ctr("import", archive);
};

/** Gives dockerd the same images. */
export const loadImages = async (
  layout: Layout,
  { archive, names }: BuiltImages,
  progress: Progress,
): Promise<void> => {
  const docker = (...args: string[]) => run("docker", [...dockerArgs(layout), ...args], { deadline: 300_000 });
  const present = new Set((await docker("images", "--format", "{{.Repository}}:{{.Tag}}")).stdout.split("\n"));
  if (names.every((name) => present.has(name))) return;
  progress("loading the images into Docker");
  await docker("load", "-i", archive);
};
