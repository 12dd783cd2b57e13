import type { Access, CrawlContext } from "@trawler/plugin-api";
import { type Endpoints, findEndpoints, type Server } from "./endpoints.ts";

/**
 * Where a server of this kind may be asked on the target that is crawled. `configured` = the port of the settings, which
 * a port of the pod's annotation takes the place of; a wrong one is a problem, and nothing is asked.
 */
export async function locate(
  { proc, meta }: Pick<Access, "proc" | "meta">,
  { signal, asked, annotation, problem }: CrawlContext,
  server: Server,
  configured: number | null,
): Promise<Endpoints> {
  const declared = annotation?.["port"] ?? configured;
  const port = declared === null ? null : Number(declared);
  if (port !== null && !(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    problem("failed", "the annotation's `port` is no port number");
    return { endpoints: [], deaf: null };
  }
  const [commands, { sockets, attributed }] = await Promise.all([
    commandsOf(proc, server, signal),
    proc.sockets({ signal }),
  ]);
  // Without a process of its kind, a port of custom may be anybody's.
  if (server.argument !== undefined && commands.length === 0 && port === null) return { endpoints: [], deaf: null };
  const { workload, container } = meta;
  const expected = asked === "annotation";
  return findEndpoints({ commands, sockets, attributed, workload, container, port, expected, server });
}

/** The processes that may be such a server. */
async function commandsOf(
  proc: Access["proc"],
  { processes, argument }: Server,
  signal: AbortSignal,
): Promise<readonly { readonly pid: number; readonly command: string }[]> {
  const commands = await proc.commands({ signal });
  if (argument === undefined || !commands.some(({ command }) => processes.includes(command))) {
    return argument === undefined ? commands : [];
  }
  const { processes: running } = await proc.processes({ signal });
  return running.filter(
    ({ command, commandLine }) => processes.includes(command) && commandLine.some((word) => word.includes(argument)),
  );
}
