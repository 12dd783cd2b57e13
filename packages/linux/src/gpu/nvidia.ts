/** What NVIDIA's driver says of one of its devices without its library; null = not said. */
export interface NvidiaInformation {
  readonly model: string | null;
  readonly uuid: string | null;
  /** N of `/dev/nvidiaN`. */
  readonly minor: number | null;
}

/**
 * A `/proc/driver/nvidia/gpus/ADDRESS/information` (README of the driver, "Using the /proc File System Interface"):
 * lines `Model: Tesla P40`, names and values set apart by blanks. Before the device is first used a value is `??`.
 */
export function parseNvidiaInformation(text: string): NvidiaInformation {
  const of = (name: string): string | null => {
    const found = new RegExp(`^${name}:\\s*(\\S.*?)\\s*$`, "m").exec(text)?.[1] ?? null;
    return found === null || found.includes("??") ? null : found.slice(0, 128);
  };
  const minor = of("Device Minor");
  return {
    model: of("Model"),
    uuid: of("GPU UUID"),
    minor: minor !== null && /^\d{1,4}$/.test(minor) ? Number(minor) : null,
  };
}
