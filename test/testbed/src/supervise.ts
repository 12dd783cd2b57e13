import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Component } from "./component.ts";
import { errorCode, TestbedError } from "./errors.ts";
import { fingerprint, writeAtomic } from "./files.ts";
import { localEnvironment } from "./kubectl.ts";
import type { Layout } from "./layout.ts";
import { endProcess, isAlive, type ProcessIdentity, startDaemon } from "./process.ts";
import { waitUntil } from "./wait.ts";

/** What the pid file of a component says. */
export interface ProcessRecord extends ProcessIdentity {
  readonly name: string;
  /** Of the command, its arguments and its files. */
  readonly fingerprint: string;
}

const pidFile = (layout: Layout, name: string): string => join(layout.pids, `${name}.json`);
export const logFile = (layout: Layout, name: string): string => join(layout.logs, `${name}.log`);

export const parseRecord = (text: string): ProcessRecord | undefined => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) return undefined;
  if (!("pid" in value && "startTime" in value && "name" in value && "fingerprint" in value)) return undefined;
  const { pid, startTime, name, fingerprint: print } = value;
  return typeof pid === "number" &&
    typeof startTime === "string" &&
    typeof name === "string" &&
    typeof print === "string"
    ? { pid, startTime, name, fingerprint: print }
    : undefined;
};

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
};

/** The running process of a component, if it is one that we started. */
export const runningRecord = (layout: Layout, name: string): ProcessRecord | undefined => {
  const text = readText(pidFile(layout, name));
  const record = text === undefined ? undefined : parseRecord(text);
  return record !== undefined && isAlive(record) ? record : undefined;
};

/** Names of all components that have a pid file, running or not. */
export const recordedNames = (layout: Layout): string[] => {
  try {
    return readdirSync(layout.pids)
      .filter((file) => file.endsWith(".json"))
      .map((file) => file.slice(0, -".json".length));
  } catch {
    return [];
  }
};

const fingerprintOf = ({ command, args, env = {}, files = new Map() }: Component): string =>
  fingerprint(JSON.stringify([command, args, env, [...files]]));

const lastLines = (text: string): string => text.trimEnd().split("\n").slice(-12).join("\n");

/**
 * Milliseconds between SIGTERM and SIGKILL. The API server would wait for its watches to end by themselves, and a
 * broker for a quorum that may have gone.
 */
const graceOf = (name: string): number => (name === "apiserver" ? 1500 : name.startsWith("kafka-") ? 6000 : 15_000);

/** Ends a component by the pid that its file names, and only if that is still the same process. */
export const stopProcess = async (layout: Layout, name: string, signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
  const record = runningRecord(layout, name);
  if (record !== undefined) await endProcess(record, { signal, grace: graceOf(name) });
  rmSync(pidFile(layout, name), { force: true });
};

/** Starts a component unless it runs with the same arguments and files; answers whether it was started. */
export const launch = async (layout: Layout, component: Component): Promise<boolean> => {
  const { name, command, args, env = {}, files = new Map<string, string>() } = component;
  const wanted = fingerprintOf(component);
  const running = runningRecord(layout, name);
  if (running?.fingerprint === wanted) return false;
  if (running !== undefined) await stopProcess(layout, name);
  for (const [path, content] of files) writeAtomic(path, content, 0o600);
  await component.prepare?.();
  const path = `${layout.bin}:${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;
  const log = logFile(layout, name);
  const identity = await startDaemon({
    command,
    args,
    env: { ...localEnvironment(), PATH: path, ...env },
    logFile: log,
  });
  writeAtomic(pidFile(layout, name), `${JSON.stringify({ name, ...identity, fingerprint: wanted })}\n`);
  return true;
};

/** Waits until a component serves; fails at once, with the end of its log, when it has died. */
export const awaitReady = (layout: Layout, component: Component): Promise<true> => {
  const { name, deadline, ready } = component;
  const log = logFile(layout, name);
  const probe = async (): Promise<true | undefined> => {
    if (runningRecord(layout, name) === undefined)
      throw new TestbedError(`${name} has ended. ${log} says:\n${lastLines(readText(log) ?? "")}`, { final: true });
    return (await ready()) || undefined;
  };
  return waitUntil(`${name} to be ready (see ${log})`, probe, { deadline });
};
