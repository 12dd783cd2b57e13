import { LayeredFileSystem, openHostFileSystem } from "@trawler/linux";
import {
  errorMessage,
  type FileSystemAccess,
  type Mode,
  type Subject,
  TrawlerError,
  type Workload,
} from "@trawler/plugin-api";
import { aliased } from "./alias.ts";

/** What the host's frame says of the machine that runs, which is none of the folder's. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(["host.arch", "os.description", "trawler.kernel.release"]);

/** One folder, or the layers of an overlay. Throws TRAWLER_CONFIG_INVALID where one of them is not there. */
export async function openMountpoint(folders: readonly string[], alias: string): Promise<Mode> {
  try {
    await using _files = await openFolders(folders);
  } catch (cause) {
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `mode mountpoint: ${errorMessage(cause)}`, { cause });
  }
  return {
    subjects: (workload) => [mountpointWorkload(workload, folders[0] ?? "/")],
    open: async (workload) => {
      const files = await openFolders(folders);
      return new MountpointSubject(workload, aliased(files, alias), files);
    },
  };
}

async function openFolders(folders: readonly string[]): Promise<FileSystemAccess & AsyncDisposable> {
  const layers: Awaited<ReturnType<typeof openHostFileSystem>>[] = [];
  try {
    for (const path of folders) layers.push(await openHostFileSystem(path));
  } catch (error) {
    for (const layer of layers) await layer[Symbol.asyncDispose]();
    throw error;
  }
  const [only] = layers;
  return layers.length === 1 && only !== undefined ? only : new LayeredFileSystem(layers);
}

/** Its own subject beside the host, whose processes and figures say nothing about it. */
function mountpointWorkload(host: Workload, path: string): Workload {
  const resource = Object.entries(host.resource).filter(([name]) => !OF_THE_MACHINE.has(name));
  return {
    ...host,
    id: `${host.id}:${path}`,
    name: `${host.name}:${path}`,
    handle: {},
    resource: { ...Object.fromEntries(resource), "trawler.mountpoint.path": path },
  };
}

class MountpointSubject implements Subject {
  readonly members: Subject["members"] = new Map();
  readonly #files: ReturnType<typeof aliased>;
  readonly #opened: AsyncDisposable;
  #workload: Workload;

  constructor(workload: Workload, files: ReturnType<typeof aliased>, opened: AsyncDisposable) {
    this.#workload = workload;
    this.#files = files;
    this.#opened = opened;
  }

  get access(): Subject["access"] {
    return { fs: this.#files, meta: { workload: this.#workload, container: null } };
  }

  async update(workload: Workload): Promise<void> {
    this.#workload = workload;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]();
  }
}
