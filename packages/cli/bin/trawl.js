#!/usr/bin/env node
// Starts trawl on a Node that can run it. Plain JavaScript that an old Node can parse: it may have to say no.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const OLDEST = [24, 6];
const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "..", "src", "bin.ts");
const args = process.argv.slice(2);
const [major, minor] = process.versions.node.split(".").map(Number);
const tooOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);

/** The Node of the `node` development dependency, in the nearest folder above that has one. */
function bundledNode() {
  for (let folder = here; ; folder = dirname(folder)) {
    const binary = join(folder, "node_modules", "node", "bin", "node");
    if (existsSync(binary)) return binary;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Node's own arguments for a file, which is TypeScript where this is a checkout. */
const fromSource = ["--conditions=@trawler/source", "--disable-warning=ExperimentalWarning", source];

if (tooOld) {
  const binary = bundledNode();
  if (binary === undefined || process.env.TRAWLER_STARTED === "1") {
    process.stderr.write(
      `trawl needs Node ${OLDEST.join(".")} or newer; this is ${process.version} at ${process.execPath}.\n` +
        "Install a newer Node, or run `npm ci` in the checkout, which brings one along.\n",
    );
    process.exitCode = 1;
  } else {
    // An old Node has no execve: stand in front of the child, hand signals down and its end up.
    const child = spawn(binary, [fileURLToPath(import.meta.url), ...args], {
      stdio: "inherit",
      env: { ...process.env, TRAWLER_STARTED: "1" },
    });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
      process.on(signal, () => {
        // A terminal sends Ctrl-C to the child as well: twice would end it without its flush.
        if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
      });
    }
    child.on("error", (error) => {
      process.stderr.write(`trawl: cannot start ${binary}: ${error.message}\n`);
      process.exitCode = 1;
    });
    child.on("exit", (code, signal) => {
      if (signal === null) process.exitCode = code === null ? 1 : code;
      else {
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      }
    });
  }
} else if (existsSync(source)) {
  process.execve(process.execPath, [process.execPath, ...fromSource, ...args], process.env);
} else {
  await import("../dist/bin.js");
}
