import { isDenied, isGone, type ProcFiles } from "../proc/files.ts";
import { parseNvidiaInformation } from "./nvidia.ts";

/** More than any machine has. */
const MAX_GPUS = 64;
const ADDRESS = /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/i;
const NVIDIA = "driver/nvidia/gpus";
const DRM = "class/drm";

/** Which device it is. */
export interface GpuDevice {
  readonly address: string;
  readonly driver: string | null;
  readonly model: string | null;
  readonly uuid: string | null;
  /** Files by which programs use it, such as `/dev/nvidia0` and `/dev/dri/renderD128`. */
  readonly files: readonly string[];
  /** Its folder below `/sys`; null where only its driver lists it. */
  readonly folder: string | null;
}

/** Graphics processors of the node by their addresses: those of its `/sys/class/drm` that can render, and NVIDIA's own list. */
export function readGpuDevices(proc: ProcFiles, system: ProcFiles): readonly GpuDevice[] {
  const found = new Map<string, GpuDevice>();
  for (const card of names(system, DRM).filter((name) => /^card\d{1,4}$/.test(name))) {
    const device = readCard(system, `${DRM}/${card}/device`);
    if (device !== null) found.set(device.address, device);
  }
  for (const name of names(proc, NVIDIA).filter((name) => ADDRESS.test(name))) {
    const { model, uuid, minor } = parseNvidiaInformation(text(proc, `${NVIDIA}/${name}/information`) ?? "");
    const address = shortAddress(name);
    const known = found.get(address);
    const own = minor === null ? [] : [`/dev/nvidia${minor}`];
    const files = [...own, ...(known?.files ?? [])];
    found.set(address, { address, driver: "nvidia", model, uuid, files, folder: known?.folder ?? null });
  }
  const devices = [...found.values()].slice(0, MAX_GPUS);
  return devices.sort((a, b) => (a.address < b.address ? -1 : 1));
}

/** A display that nothing renders on, such as a server's console, is none. */
function readCard(system: ProcFiles, folder: string): GpuDevice | null {
  const event = text(system, `${folder}/uevent`) ?? "";
  const address = /^PCI_SLOT_NAME=(.+)$/m.exec(event)?.[1] ?? "";
  const files = names(system, `${folder}/drm`).filter((name) => /^(?:card|renderD)\d{1,4}$/.test(name));
  if (!ADDRESS.test(address) || !files.some((name) => name.startsWith("renderD"))) return null;
  return {
    address: shortAddress(address),
    driver: /^DRIVER=([\w-]{1,64})$/m.exec(event)?.[1] ?? null,
    model: text(system, `${folder}/product_name`)?.trim().slice(0, 128) || modelOf(event),
    uuid: text(system, `${folder}/unique_id`)?.trim().slice(0, 128) || null,
    files: files.map((name) => `/dev/dri/${name}`).sort(),
    folder,
  };
}

/** Where the driver knows no name: vendor and device, as `lspci -nn` shows them. */
function modelOf(event: string): string | null {
  return /^PCI_ID=([0-9A-F]{4}:[0-9A-F]{4})$/im.exec(event)?.[1]?.toLowerCase() ?? null;
}

/** NVIDIA's tools write the domain with eight digits, the kernel with four. */
function shortAddress(address: string): string {
  return address.toLowerCase().replace(/^0000(?=[0-9a-f]{4}:)/, "");
}

function names(files: ProcFiles, path: string): readonly string[] {
  return orNothing(() => [...files.names(path, 1024)].sort()) ?? [];
}

function text(files: ProcFiles, path: string): string | null {
  return orNothing(() => files.text(path));
}

/** Drivers answer as they like (EINVAL, ENODEV, EIO …): what cannot be read is not known. */
function orNothing<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isGone(error) || isDenied(error) || (error instanceof Error && "errno" in error)) return null;
    throw error;
  }
}
