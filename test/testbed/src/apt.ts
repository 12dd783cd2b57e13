import { existsSync, rmSync, writeFileSync } from "node:fs";
import { packageOfCommand } from "./pins.ts";
import type { Progress } from "./progress.ts";
import { run } from "./run.ts";
import { commandPath } from "./unsupported.ts";

const policyFile = "/usr/sbin/policy-rc.d";

/** The packages of a list that `dpkg-query -W -f '${db:Status-Status} ${Package}\n'` does not show as installed. */
export const missingPackages = (wanted: readonly string[], query: string): string[] => {
  const installed = new Set(
    query
      .split("\n")
      .filter((line) => line.startsWith("installed "))
      .map((line) => line.slice("installed ".length)),
  );
  return wanted.filter((name) => !installed.has(name));
};

/** Runs a step while a policy forbids packages to start their services. A policy that exists is left alone. */
const withoutServices = async (step: () => Promise<void>): Promise<void> => {
  const own = !existsSync(policyFile);
  if (own) writeFileSync(policyFile, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    await step();
  } finally {
    if (own) rmSync(policyFile, { force: true });
  }
};

/** Installs what is missing and starts nothing. Package lists are read anew only if something is missing. */
export const installPackages = async (packages: readonly string[], progress: Progress): Promise<void> => {
  const forCommands = Object.entries(packageOfCommand)
    .filter(([command]) => commandPath(command) === undefined)
    .map(([, name]) => name);
  // gcc and openssl may be there without Debian's package; what counts is the command.
  const wanted = [...packages, ...forCommands].filter(
    (name) => !["gcc", "openssl"].includes(name) || commandPath(name) === undefined,
  );
  const format = "$" + "{db:Status-Status} $" + "{Package}\n";
  const { stdout } = await run("dpkg-query", ["-W", "-f", format], { deadline: 60_000 });
  const missing = missingPackages(wanted, stdout);
  if (missing.length === 0) return;
  progress(`installing ${missing.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const lock = ["-o", "DPkg::Lock::Timeout=300"];
  await run("apt-get", ["update", "-q", ...lock], { env, deadline: 300_000 });
  await withoutServices(async () => {
    const args = ["install", "-y", "-q", "--no-install-recommends", ...lock, ...missing];
    await run("apt-get", args, { env, deadline: 900_000 });
  });
};
