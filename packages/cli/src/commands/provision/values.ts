import { readFile, stat } from "node:fs/promises";
import { parseEnv } from "node:util";
import { errorMessage, TrawlerError } from "@trawler/plugin-api";

export interface ValueOptions {
  /** `NAME=VALUE`. */
  readonly param?: readonly string[];
  readonly paramFile?: readonly string[];
}

type Pair = readonly [name: string, value: string];

const MAX_FILE = 4 * 1024 ** 2;

/**
 * The values that the command line gives. Those of `-p` win over those of files; a name twice in either stays twice,
 * and is a fault later.
 * @throws TrawlerError TRAWLER_CONFIG_INVALID that never holds a value.
 */
export async function readValues({ param = [], paramFile = [] }: ValueOptions): Promise<readonly Pair[]> {
  const given = param.map(pair);
  const names = new Set(given.map(([name]) => name));
  const files = await Promise.all(paramFile.map(readPairs));
  return [...files.flat().filter(([name]) => !names.has(name)), ...given];
}

function pair(text: string): Pair {
  const end = text.indexOf("=");
  // The text may be a secret, and is not repeated.
  if (end < 1) throw new TrawlerError("TRAWLER_CONFIG_INVALID", "-p takes NAME=VALUE");
  return [text.slice(0, end), text.slice(end + 1)];
}

/** Lines as in an environment file: comments, quotes, and texts of several lines in quotes. */
async function readPairs(file: string): Promise<readonly Pair[]> {
  try {
    if ((await stat(file)).size > MAX_FILE) throw new Error(`more than ${MAX_FILE} bytes; keep only values in it`);
    const pairs = Object.entries(parseEnv(await readFile(file, "utf8")));
    return pairs.map(([name, value]) => [name, value ?? ""]);
  } catch (error) {
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `${file}: ${errorMessage(error)}`);
  }
}
