import { mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { installPackages } from "./apt.ts";
import { buildContainerd, buildKubernetes } from "./build-go.ts";
import { buildImages } from "./build-images.ts";
import { fetchKafka } from "./build-kafka.ts";
import type { Component } from "./component.ts";
import { componentsOf } from "./components.ts";
import { dockerComponents } from "./components-docker.ts";
import { kafkaComponents } from "./components-kafka.ts";
import { kubernetesComponents } from "./components-kubernetes.ts";
import { TestbedError } from "./errors.ts";
import { importImages, loadImages } from "./images.ts";
import { adminKubeconfig, kubectlWith } from "./kubectl.ts";
import type { Layout } from "./layout.ts";
import { withLock } from "./lock.ts";
import { ensureDockerBridge, ensureNodeBridge, linkSocket, machineBefore } from "./machine.ts";
import { debianPackages, dockerPackages } from "./pins.ts";
import { makePki } from "./pki.ts";
import type { Progress } from "./progress.ts";
import { agentRole } from "./render-kubernetes.ts";
import { changedSettings, newSettings, readSettings, type Settings, type UpChoice, writeSettings } from "./settings.ts";
import { awaitReady, launch, recordedNames, stopProcess } from "./supervise.ts";
import { describeTestbed, type Testbed } from "./testbed.ts";
import { testbedUnsupported } from "./unsupported.ts";
import { waitUntil } from "./wait.ts";

const linkInto = (layout: Layout, folder: string): void => {
  for (const entry of readdirSync(folder)) if (entry !== "module") link(join(folder, entry), join(layout.bin, entry));
};

const link = (target: string, path: string): void => {
  try {
    if (readlinkSync(path) === target) return;
  } catch {
    // Not there yet.
  }
  rmSync(path, { force: true });
  symlinkSync(target, path);
};

const startAll = async (layout: Layout, components: readonly Component[], progress: Progress): Promise<void> => {
  for (const component of components) if (await launch(layout, component)) progress(`started ${component.name}`);
  await Promise.all(components.map((component) => awaitReady(layout, component)));
};

const startKafka = async (layout: Layout, settings: Settings, progress: Progress): Promise<void> => {
  link(await fetchKafka(layout.cache, progress), join(layout.bin, "kafka"));
  await startAll(layout, kafkaComponents(layout, settings), progress);
  if (settings.brokers > 0) progress(`Kafka serves, ${settings.brokers} broker(s)`);
};

const startNode = async (layout: Layout, settings: Settings, progress: Progress): Promise<void> => {
  linkInto(layout, await buildContainerd(layout.cache, progress));
  linkInto(layout, await buildKubernetes(layout.cache, progress));
  const images = await buildImages(layout.cache, progress);
  const components = kubernetesComponents(layout, settings);
  const named = (...names: string[]) => components.filter(({ name }) => names.includes(name));
  await startAll(layout, named("etcd", "containerd"), progress);
  linkSocket(layout);
  await importImages(layout, images, progress);
  await startAll(layout, named("apiserver"), progress);
  await kubectlWith(adminKubeconfig(layout), ["apply", "-f", "-"], { input: agentRole() });
  await startAll(layout, named("controller-manager", "scheduler", "kubelet"), progress);
  // Pods are refused until the namespace has its account.
  const account = ["get", "serviceaccount", "default", "-o", "name"];
  await waitUntil(
    "the default service account",
    async () => (await kubectlWith(adminKubeconfig(layout), account, { tolerate: true })).code === 0,
    { deadline: 60_000 },
  );
  progress("the node is Ready");
};

const startDockerEngine = async (layout: Layout, settings: Settings, progress: Progress): Promise<void> => {
  const images = await buildImages(layout.cache, progress);
  await ensureDockerBridge();
  await startAll(layout, dockerComponents(layout, settings), progress);
  await loadImages(layout, images, progress);
  progress("Docker serves");
};

/** Ends components that the settings no longer ask for, such as brokers two and three. */
const stopUnwanted = async (layout: Layout, settings: Settings, progress: Progress): Promise<void> => {
  const wanted = new Set(componentsOf(layout, settings).map(({ name }) => name));
  for (const name of recordedNames(layout).filter((each) => !wanted.has(each))) {
    progress(`stopping ${name}`);
    await stopProcess(layout, name);
  }
};

/** Brings up what is missing and leaves alone what runs as it should. */
export const up = async (layout: Layout, choice: UpChoice, progress: Progress): Promise<Testbed> => {
  const reason = testbedUnsupported();
  if (reason !== undefined) throw new TestbedError(reason);
  return withLock(layout.lockFile, async () => {
    const before = readSettings(layout);
    const docker = choice.docker ?? before?.docker ?? false;
    await installPackages([...debianPackages, ...(docker ? dockerPackages : [])], progress);
    const settings =
      before === undefined ? await newSettings(choice, await machineBefore()) : await changedSettings(before, choice);
    mkdirSync(layout.root, { recursive: true, mode: 0o755 });
    mkdirSync(layout.bin, { recursive: true });
    writeSettings(layout, settings);
    await makePki(layout);
    await stopUnwanted(layout, settings, progress);
    // Brokers listen on it, too.
    if (settings.kubernetes) await ensureNodeBridge();
    if (settings.brokers > 0) await startKafka(layout, settings, progress);
    if (settings.kubernetes) await startNode(layout, settings, progress);
    if (settings.docker) await startDockerEngine(layout, settings, progress);
    return describeTestbed(layout, settings);
  });
};
