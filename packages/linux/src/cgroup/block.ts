import type { BlockFigures, PidsFigures } from "@trawler/plugin-api";
import { parseCount } from "../proc/number.ts";
import { parseLimit, parseValue } from "./values.ts";

/** More devices than any machine has. */
const MAX_DEVICES = 1024;
const DEVICE = /^\d+:\d+$/;

/**
 * v2 `io.stat`: `8:0 rbytes=1 wbytes=2 rios=3 wios=4 …`. A device with no figures is left out; some kernels write such a
 * one without a line end (`7:0 8:0 rbytes=1 …`).
 */
export function parseIoStat(text: string): readonly BlockFigures[] {
  const devices = new Map<string, Map<string, number>>();
  let counts = new Map<string, number>();
  for (const word of text.split(/\s+/)) {
    if (DEVICE.test(word)) {
      counts = new Map();
      if (devices.size < MAX_DEVICES) devices.set(word, counts);
      continue;
    }
    const [name, value] = word.split("=");
    const count = parseCount(value);
    if (name !== undefined && count !== null) counts.set(name, count);
  }
  return [...devices]
    .filter(([, values]) => values.size > 0)
    .map(([device, values]) => ({
      device,
      readBytes: values.get("rbytes") ?? null,
      writtenBytes: values.get("wbytes") ?? null,
      readOperations: values.get("rios") ?? null,
      writeOperations: values.get("wios") ?? null,
    }));
}

/** Whether a v1 `blkio` file has a line of a device; `Total 0` is none. */
export function hasDevice(text: string): boolean {
  return /^\d+:\d+ /m.test(text);
}

/** v1 `blkio.*.io_service_bytes*` and `blkio.*.io_serviced*`: `8:0 Read 1` lines. */
export function parseBlkio(bytes: string, operations: string): readonly BlockFigures[] {
  const byteLines = parseBlkioLines(bytes);
  const operationLines = parseBlkioLines(operations);
  const devices = [...new Set([...byteLines.keys(), ...operationLines.keys()])];
  return devices.map((device) => ({
    device,
    readBytes: byteLines.get(device)?.get("Read") ?? null,
    writtenBytes: byteLines.get(device)?.get("Write") ?? null,
    readOperations: operationLines.get(device)?.get("Read") ?? null,
    writeOperations: operationLines.get(device)?.get("Write") ?? null,
  }));
}

function parseBlkioLines(text: string): ReadonlyMap<string, Map<string, number>> {
  const devices = new Map<string, Map<string, number>>();
  for (const line of text.split("\n")) {
    const [device, kind, value] = line.trim().split(" ");
    const count = parseCount(value);
    if (device === undefined || kind === undefined || count === null || !DEVICE.test(device)) continue;
    if (!devices.has(device) && devices.size >= MAX_DEVICES) continue;
    devices.set(device, (devices.get(device) ?? new Map<string, number>()).set(kind, count));
  }
  return devices;
}

/** `pids.current` and `pids.max`, the same in v1 and v2. */
export function parsePids(current: string | null, max: string | null): PidsFigures {
  return { current: parseValue(current), limit: parseLimit(max) };
}
