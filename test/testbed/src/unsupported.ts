import { accessSync, constants } from "node:fs";
import { join } from "node:path";

export const commandPath = (command: string, path = process.env["PATH"] ?? ""): string | undefined => {
  for (const folder of [...path.split(":"), "/usr/sbin", "/sbin"]) {
    if (folder === "") continue;
    try {
      accessSync(join(folder, command), constants.X_OK);
      return join(folder, command);
    } catch {
      // Not here.
    }
  }
  return undefined;
};

/** Commands that no package of the testbed brings. */
const needed = ["apt-get", "go", "kubectl"];

/** Why a testbed cannot run here, in one sentence for a skipped test; `undefined` where it can. */
export const testbedUnsupported = (
  world: { readonly platform: string; readonly uid: number | undefined; readonly has: (command: string) => boolean } = {
    platform: process.platform,
    uid: process.getuid?.(),
    has: (command) => commandPath(command) !== undefined,
  },
): string | undefined => {
  if (world.platform !== "linux") return `The testbed needs Linux; this is ${world.platform}.`;
  if (world.uid !== 0) return "The testbed needs root: it starts containerd and a kubelet.";
  const missing = needed.filter((command) => !world.has(command));
  return missing.length === 0 ? undefined : `The testbed needs ${missing.join(", ")} on the PATH.`;
};
