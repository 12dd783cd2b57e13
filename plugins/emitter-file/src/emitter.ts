import { type Format, formatFrame, type NameOf } from "@trawler/format";
import { type Emitter, type Envelope, errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { RotatingFile, type RotationOptions } from "./rotating-file.ts";

export interface FileOptions extends RotationOptions {
  /** Wait for the disk after each batch. */
  readonly fsync: boolean;
  readonly format: Format;
  readonly nameOf?: NameOf;
}

/** The lines of one envelope. */
interface Lines {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * Appends each batch as lines. What was appended before a failure is safe; the rest is named for a retry, or
 * thrown as TRAWLER_RETRY (disk full, I/O error) or TRAWLER_UNAVAILABLE (the file cannot be opened).
 */
export async function fileEmitter(options: FileOptions): Promise<Emitter & AsyncDisposable> {
  const file = new RotatingFile(options);
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function appendAll(envelopes: readonly Envelope[], signal: AbortSignal) {
    const batch = envelopes.map(
      ({ id, bytes }): Lines => ({ id, bytes: formatFrame(bytes, options.format, options.nameOf) }),
    );
    for (let start = 0, end = 0; start < batch.length; start = end) {
      if (signal.aborted || closed) return retry(batch.slice(start));
      end = endOfPiece(batch, start, file.room, options.maxSize);
      try {
        await file.append(Buffer.concat(batch.slice(start, end).map(({ bytes }) => bytes)), options.fsync);
      } catch (error) {
        if (start > 0) return retry(batch.slice(start));
        throw failure(error, options.path);
      }
    }
    return undefined;
  }

  try {
    await file.open();
  } catch (error) {
    throw new TrawlerError("TRAWLER_CONFIG_INVALID", `path: ${explain(error, options.path)}`, { cause: error });
  }
  return {
    write(envelopes, { signal }) {
      const work = last.catch(() => undefined).then(() => appendAll(envelopes, signal));
      last = work;
      return work;
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      await last.catch(() => undefined);
      await file.close();
      await options.compression?.close();
    },
  };
}

const retry = (batch: readonly Lines[]) => ({ retry: batch.map(({ id }) => id) });

/** As many frames as the current file has room for, else as a new file has, and at least one: each piece is one append. */
function endOfPiece(batch: readonly Lines[], start: number, room: number, maxSize: number): number {
  const within = (limit: number): number => {
    let end = start;
    for (let size = 0; end < batch.length; end++) {
      size += batch[end]?.bytes.length ?? 0;
      if (size > limit) break;
    }
    return end;
  };
  const end = within(room);
  return end > start ? end : Math.max(within(maxSize), start + 1);
}

const OPENING = new Set(["ENOENT", "ENOTDIR", "EACCES", "EPERM", "EROFS", "EISDIR", "ELOOP", "ENXIO"]);

function failure(error: unknown, path: string): TrawlerError {
  const code = OPENING.has(errorCode(error) ?? "") ? "TRAWLER_UNAVAILABLE" : "TRAWLER_RETRY";
  return new TrawlerError(code, explain(error, path), { cause: error });
}

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "its folder does not exist; create it or change `path`"],
  ["ENOTDIR", "a part of it is no folder"],
  ["EISDIR", "it is a folder; name a file"],
  ["EACCES", "no right to write there"],
  ["EROFS", "its file system is read-only"],
  ["ENOSPC", "no space left on its disk"],
]);

const explain = (error: unknown, path: string): string =>
  `${path}: ${MEANINGS.get(errorCode(error) ?? "") ?? errorMessage(error)}`;
