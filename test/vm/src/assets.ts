import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Path of a file that goes into the guest as it is. */
export const assetPath = (name: string): string => fileURLToPath(new URL(`../assets/${name}`, import.meta.url));

export const readAsset = (name: string): string => readFileSync(assetPath(name), "utf8");
