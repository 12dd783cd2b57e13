import { buildApplications } from "./build-applications.ts";
import { componentNamed } from "./components.ts";
import { down } from "./down.ts";
import { TestbedError } from "./errors.ts";
import { importImages } from "./images.ts";
import { adminKubeconfig, kubectlWith } from "./kubectl.ts";
import { layoutFrom } from "./layout.ts";
import { applicationsImage } from "./pins.ts";
import { type Progress, progressOnStderr } from "./progress.ts";
import type { RunOptions, RunResult } from "./run.ts";
import { readSettings, type Settings, type UpChoice } from "./settings.ts";
import { readStatus, type TestbedStatus } from "./status.ts";
import { awaitReady, launch, runningRecord, stopProcess } from "./supervise.ts";
import { describeTestbed, type Testbed } from "./testbed.ts";
import { up } from "./up.ts";

export { installPackages } from "./apt.ts";
export { type AuditedRequest, readAudit } from "./audit.ts";
export { buildContainerd, buildHelm, buildKubernetes } from "./build-go.ts";
export { type BuiltImages, buildImages } from "./build-images.ts";
export { cached } from "./cache.ts";
export { startDocker, stopDocker } from "./docker.ts";
export { TestbedError } from "./errors.ts";
export { fingerprint } from "./files.ts";
export {
  agentUser,
  applicationsImage,
  busyboxImage,
  debianImage,
  kafkaAccount,
  network,
  nginxImage,
  pauseMenuImage,
  redisImage,
  sandboxImage,
} from "./pins.ts";
export { type Progress, progressOnStderr } from "./progress.ts";
export { agentRole } from "./render-kubernetes.ts";
export { type RunOptions, type RunResult, run } from "./run.ts";
export type { UpChoice } from "./settings.ts";
export type { ComponentStatus, TestbedStatus } from "./status.ts";
export { type Testbed, testbedEnvironment } from "./testbed.ts";
export { testbedUnsupported } from "./unsupported.ts";
export { type WaitOptions, waitUntil } from "./wait.ts";

export interface UpOptions extends UpChoice {
  readonly progress?: Progress;
}

const layout = () => layoutFrom(process.env);

/** Where builds are kept, by a hash of their pins. */
export const cacheFolder = (): string => layout().cache;

const settingsNow = (): Settings => {
  const settings = readSettings(layout());
  if (settings === undefined) throw new TestbedError("No testbed is up: run `npm run testbed -- up`");
  return settings;
};

/**
 * Brings the testbed up and answers what others need of it. Idempotent: what runs is left alone, what is dead is
 * started, what changed is restarted. A first run builds for about fifteen minutes, a warm one takes seconds.
 */
export const testbedUp = ({ progress = progressOnStderr(), ...choice }: UpOptions = {}): Promise<Testbed> =>
  up(layout(), choice, progress);

/** Ends everything that the testbed started. The cache of builds stays. */
export const testbedDown = (options: { readonly progress?: Progress } = {}): Promise<void> =>
  down(layout(), options.progress ?? progressOnStderr());

/** What the testbed offers now; `undefined` where none is up. */
export const readTestbedState = (): Testbed | undefined => {
  const settings = readSettings(layout());
  return settings === undefined ? undefined : describeTestbed(layout(), settings);
};

/** Asks each part whether it runs and serves. */
export const testbedStatus = (): Promise<TestbedStatus> => readStatus(layout());

/** Runs kubectl as administrator; throws if it fails, unless `tolerate` is set. */
export const kubectl = (args: readonly string[], input?: string, options: RunOptions = {}): Promise<RunResult> =>
  kubectlWith(adminKubeconfig(layout()), args, { ...options, ...(input !== undefined && { input }) });

/**
 * Ends one part: `etcd`, `containerd`, `apiserver`, `controller-manager`, `scheduler`, `kubelet`, `kafka-1` …, `dockerd`,
 * `docker-containerd`. Answers when it has ended. Containers live on when containerd ends.
 */
export const stopComponent = async (name: string, signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
  componentNamed(layout(), settingsNow(), name);
  await stopProcess(layout(), name, signal);
};

/** Starts one part, if it does not run, and answers when it serves. `wait: false` answers as soon as it is started. */
export const startComponent = async (
  name: string,
  { wait = true }: { readonly wait?: boolean } = {},
): Promise<void> => {
  const component = componentNamed(layout(), settingsNow(), name);
  await launch(layout(), component);
  if (wait) await awaitReady(layout(), component);
};

/** Stops and starts one part. */
export const restartComponent = async (name: string): Promise<void> => {
  await stopComponent(name);
  await startComponent(name);
};

/** The pid of a running part, to freeze it with SIGSTOP for example. */
export const componentPid = (name: string): number | undefined => runningRecord(layout(), name)?.pid;

/** Gives the node the image of the servers that application crawlers ask; built once, imported once. */
export const importApplications = async (progress: Progress = progressOnStderr()): Promise<void> => {
  const archive = await buildApplications(cacheFolder(), progress);
  await importImages(layout(), { archive, names: [applicationsImage] }, progress);
};
