import { run } from "./run.ts";

/** Names of the chains in the output of `iptables-save`, as `table/chain`. */
export const parseChains = (text: string): string[] => {
  let table = "";
  const chains: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("*")) table = line.slice(1).trim();
    else if (line.startsWith(":")) chains.push(`${table}/${line.slice(1).split(" ")[0] ?? ""}`);
  }
  return chains;
};

const isOurs = (chain: string): boolean => chain.startsWith("CNI-") || chain.startsWith("KUBE-");

/**
 * Input of `iptables-restore --noflush` that removes the node's chains which were not there before, with the rules
 * that lead to them, and nothing else. Empty where there is nothing to remove.
 */
export const removalScript = (saved: string, before: readonly string[]): string => {
  const added = parseChains(saved)
    .filter((name) => !before.includes(name))
    .map((name) => name.split("/"))
    .filter(([, chain = ""]) => isOurs(chain));
  let table = "";
  const jumps = new Map<string, string[]>();
  for (const line of saved.split("\n")) {
    if (line.startsWith("*")) table = line.slice(1).trim();
    const target = /\s-j (\S+)/.exec(line)?.[1];
    const leads = added.some(([owner, chain]) => owner === table && chain === target);
    if (line.startsWith("-A ") && leads) jumps.set(table, [...(jumps.get(table) ?? []), `-D ${line.slice(3)}`]);
  }
  const script = [...new Set(added.map(([owner = ""]) => owner))].map((owner) => {
    const chains = added.filter(([each]) => each === owner).map(([, chain = ""]) => chain);
    const steps = [
      ...(jumps.get(owner) ?? []),
      ...chains.map((chain) => `-F ${chain}`),
      ...chains.map((chain) => `-X ${chain}`),
    ];
    return [`*${owner}`, ...steps, "COMMIT", ""].join("\n");
  });
  return script.join("");
};

const save = async (): Promise<string> => (await run("iptables-save", [], { tolerate: true, deadline: 30_000 })).stdout;

export const readChains = async (): Promise<string[]> => parseChains(await save());

/** Removes the chains that came since, and answers the error where that failed. */
export const removeChains = async (before: readonly string[]): Promise<string | undefined> => {
  const input = removalScript(await save(), before);
  if (input === "") return undefined;
  const { code, stderr } = await run("iptables-restore", ["--noflush"], { input, tolerate: true });
  return code === 0 ? undefined : stderr;
};
