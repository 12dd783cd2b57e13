import { errorCode, type FileEntry, type FileSystemAccess, type ReadOptions } from "@trawler/plugin-api";
import { type PythonPackage, parseMetadata } from "./parse.ts";

/** The fields that are read stand first; the description behind them may be long. */
const MAX_METADATA = 16_384;

/** What an entry's own metadata says; null where it has none that can be read: then its name has to do. */
export async function readMetadata(
  fs: FileSystemAccess,
  { path, type }: FileEntry,
  options: ReadOptions,
): Promise<PythonPackage | null> {
  for (const inside of placesOf(path, type === "directory")) {
    try {
      const { bytes } = await fs.read(`${path}${inside}`, { ...options, maxBytes: MAX_METADATA });
      const found = parseMetadata(new TextDecoder().decode(bytes));
      if (found !== null) return found;
    } catch (error) {
      if (!NOTHING.has(errorCode(error) ?? "")) throw error;
    }
  }
  return null;
}

function placesOf(path: string, isFolder: boolean): readonly string[] {
  if (path.endsWith(".dist-info")) return ["/METADATA"];
  if (path.endsWith(".egg")) return isFolder ? ["/EGG-INFO/PKG-INFO"] : [];
  return isFolder ? ["/PKG-INFO"] : ["", "/PKG-INFO"];
}

const NOTHING: ReadonlySet<string> = new Set([
  "TRAWLER_UNSUPPORTED",
  "TRAWLER_DENIED",
  "TRAWLER_REFUSED",
  "TRAWLER_LIMIT",
]);
