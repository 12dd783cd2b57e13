import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { MAX_TEXT } from "../template/text.ts";

/** A text that may be a template, and the name it goes by in faults. */
export interface TemplateFile {
  readonly file: string;
  readonly text: string;
}

const NAMES = /\.(ya?ml|json)$/i;
/** Most files of one folder. */
const MAX_FILES = 500;
/** Bytes that are read at most: a text that has more has more characters than are allowed, whatever they are. */
const MAX_BYTES = 3 * (MAX_TEXT + 1);

/**
 * Reads a file, the YAML and JSON files of a folder (not of folders in it, sorted by name), or `-`: what `stdin` gives.
 * A text that is too long is read until that is sure, so that its size is a fault as any other.
 * @throws TrawlerError TRAWLER_CONFIG_INVALID where a path cannot be read, or is neither file nor folder.
 */
export async function readTemplateFiles(
  path: string,
  stdin: () => AsyncIterable<unknown>,
): Promise<readonly TemplateFile[]> {
  if (path === "-") return [{ file: "stdin", text: await readStream(stdin()) }];
  try {
    const found = await stat(path);
    if (!found.isDirectory()) return [await readFileOf(path)];
    const names = (await readdir(path)).filter((name) => NAMES.test(name)).toSorted();
    if (names.length > MAX_FILES)
      throw unreadable(path, `it holds more than ${MAX_FILES} files; name those that are meant`);
    const files: TemplateFile[] = [];
    for (const name of names) {
      if ((await stat(join(path, name))).isFile()) files.push(await readFileOf(join(path, name)));
    }
    return files;
  } catch (error) {
    if (error instanceof Error && error.name === "TrawlerError") throw error;
    throw unreadable(path, `it cannot be read (${errorCode(error) ?? errorMessage(error)})`);
  }
}

/** Whether a text means to be a template: folders hold other files too. */
export function looksLikeTemplate(text: string): boolean {
  return /(^|\n)kind:\s*["']?Template\b|"kind"\s*:\s*"Template"/.test(text);
}

async function readFileOf(path: string): Promise<TemplateFile> {
  await using file = await open(path, "r");
  const status = await file.stat();
  if (!status.isFile()) throw unreadable(path, "it is no regular file; pipe it in with -f -");
  const buffer = Buffer.alloc(Math.min(status.size, MAX_BYTES));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return { file: path, text: buffer.toString("utf8", 0, length) };
}

async function readStream(stream: AsyncIterable<unknown>): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stream) {
    const bytes = part instanceof Uint8Array ? Buffer.from(part) : Buffer.from(String(part));
    parts.push(bytes);
    length += bytes.length;
    if (length >= MAX_BYTES) break;
  }
  return Buffer.concat(parts).toString("utf8");
}

function unreadable(path: string, why: string): TrawlerError {
  return new TrawlerError("TRAWLER_CONFIG_INVALID", `${path}: ${why}`);
}
