import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { assetPath, readAsset } from "./assets.ts";
import { cached } from "./cache.ts";
import { fingerprint } from "./files.ts";
import { containerdCommands, kubernetes, kubernetesCommands } from "./pins.ts";
import type { Progress } from "./progress.ts";
import { run } from "./run.ts";

const env: NodeJS.ProcessEnv = { ...process.env, CGO_ENABLED: "0" };
/** A cold build of Kubernetes takes about eight CPU-minutes. */
const deadline = 45 * 60_000;

/** Copies a module out of the repository, so that a build cannot write into it. */
const copyModule = (name: string, folder: string): string => {
  const module = join(folder, "module");
  cpSync(assetPath(name), module, { recursive: true });
  return module;
};

/** containerd, its shim and ctr, from the module's own sources. */
export const buildContainerd = (cache: string, progress: Progress): Promise<string> => {
  const ldflags = "-s -w";
  const key = fingerprint(
    readAsset("containerd/go.mod"),
    readAsset("containerd/go.sum"),
    ldflags,
    ...containerdCommands,
  );
  return cached(cache, { name: "containerd", key, progress }, async (folder) => {
    const cwd = copyModule("containerd", folder);
    for (const command of containerdCommands) {
      const source = `github.com/containerd/containerd/v2/cmd/${command}`;
      await run("go", ["build", "-trimpath", "-ldflags", ldflags, "-o", join(folder, command), source], {
        cwd,
        env,
        deadline,
      });
    }
  });
};

/** Helm, to test charts with. Answers the program's path. */
export const buildHelm = async (cache: string, progress: Progress): Promise<string> => {
  const key = fingerprint(readAsset("helm/go.mod"), readAsset("helm/go.sum"));
  const folder = await cached(cache, { name: "helm", key, progress }, async (partial) => {
    const cwd = copyModule("helm", partial);
    const args = ["build", "-trimpath", "-ldflags", "-s -w", "-o", join(partial, "helm"), "helm.sh/helm/v4/cmd/helm"];
    await run("go", args, { cwd, env, deadline });
  });
  return join(folder, "helm");
};

/** One program that is the API server, controller manager, scheduler or kubelet by the name it is called. */
export const buildKubernetes = (cache: string, progress: Progress): Promise<string> => {
  const version = "k8s.io/component-base/version";
  const ldflags = [
    "-s -w",
    `-X ${version}.gitVersion=${kubernetes.version}`,
    `-X ${version}.gitMajor=${kubernetes.major}`,
    `-X ${version}.gitMinor=${kubernetes.minor}`,
  ].join(" ");
  const sources = ["go.mod", "go.sum", "main.go"].map((file) => readAsset(`kube/${file}`));
  return cached(cache, { name: "kubernetes", key: fingerprint(...sources, ldflags), progress }, async (folder) => {
    const cwd = copyModule("kube", folder);
    await run("go", ["build", "-trimpath", "-ldflags", ldflags, "-o", join(folder, "kubernetes"), "."], {
      cwd,
      env,
      deadline,
    });
    for (const command of kubernetesCommands) symlinkSync("kubernetes", join(folder, command));
  });
};
