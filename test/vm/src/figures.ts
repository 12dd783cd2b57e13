import type { CgroupReading } from "./guest/result.ts";

/** Figures of one cgroup in Trawler's units: seconds and bytes. */
export interface CgroupFigures {
  readonly cpuTime: number;
  readonly cpuUser: number;
  readonly cpuSystem: number;
  readonly throttledPeriods: number;
  readonly memoryUsage: number;
  readonly workingSet: number;
  readonly tasks: number;
  readonly devices: ReadonlyMap<string, DeviceFigures>;
}

interface DeviceFigures {
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly readOperations: number;
  readonly writeOperations: number;
}

export interface InterfaceFigures {
  readonly receivedBytes: number;
  readonly receivedPackets: number;
  readonly transmittedBytes: number;
  readonly transmittedPackets: number;
}

const rows = (text = ""): string[][] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.trim().split(/\s+/));

const flatKeyed = (text?: string): Map<string, number> =>
  new Map(rows(text).map(([key = "", value]) => [key, Number(value)]));

const device = (fields: readonly string[]): DeviceFigures => {
  const values = new Map(fields.map((field) => field.split("=")).map(([key, value]) => [key, Number(value)]));
  return {
    readBytes: values.get("rbytes") ?? 0,
    writtenBytes: values.get("wbytes") ?? 0,
    readOperations: values.get("rios") ?? 0,
    writeOperations: values.get("wios") ?? 0,
  };
};

export const figuresOf = ({ files }: CgroupReading): CgroupFigures => {
  const cpu = flatKeyed(files["cpu.stat"]);
  const usage = Number(files["memory.current"]);
  const inactive = flatKeyed(files["memory.stat"]).get("inactive_file") ?? 0;
  return {
    cpuTime: (cpu.get("usage_usec") ?? 0) / 1e6,
    cpuUser: (cpu.get("user_usec") ?? 0) / 1e6,
    cpuSystem: (cpu.get("system_usec") ?? 0) / 1e6,
    throttledPeriods: cpu.get("nr_throttled") ?? 0,
    memoryUsage: usage,
    workingSet: Math.max(0, usage - inactive),
    tasks: Number(files["pids.current"]),
    devices: new Map(rows(files["io.stat"]).map(([name = "", ...fields]) => [name, device(fields)])),
  };
};

/** Interfaces of `/proc/PID/net/dev`, loopback left out. */
export const interfacesOf = (text: string): ReadonlyMap<string, InterfaceFigures> => {
  const found = new Map<string, InterfaceFigures>();
  for (const line of text.split("\n").slice(2)) {
    const [name = "", figures] = line.split(":");
    if (figures === undefined || name.trim() === "lo") continue;
    const values = figures.trim().split(/\s+/).map(Number);
    const at = (index: number): number => values[index] ?? 0;
    found.set(name.trim(), {
      receivedBytes: at(0),
      receivedPackets: at(1),
      transmittedBytes: at(8),
      transmittedPackets: at(9),
    });
  }
  return found;
};
