import {
  type CrawlContext,
  errorCode,
  errorMessage,
  type FileStatus,
  type FileSystemAccess,
  isDrift,
} from "@trawler/plugin-api";
import { redactConfig } from "./redact.ts";

/** One file as it is reported; null where it has gone meanwhile. What may not be read has no content, and is told. */
export async function readConfig(
  fs: FileSystemAccess,
  status: FileStatus,
  { startedAt, maxBytes }: { readonly startedAt: number | null; readonly maxBytes: number },
  { signal, problem }: Pick<CrawlContext, "signal" | "problem">,
) {
  const { path, link, modified, changed } = status;
  const head = { path, name: path.slice(path.lastIndexOf("/") + 1), linkTarget: link };
  const drift = isDrift(changed, startedAt);
  const rest = { content: null, truncated: false, redacted: false };
  try {
    const { bytes, size, truncated } = await fs.read(path, { maxBytes, signal });
    const text = textOf(bytes, truncated);
    const content = text === null ? null : redactConfig(text);
    return { ...head, "file.size": size, modified, drift, content, truncated, redacted: content !== text };
  } catch (error) {
    const size = link === null ? status.size : null;
    switch (errorCode(error)) {
      case "TRAWLER_UNSUPPORTED":
        // A link that leads nowhere is worth telling, a file that has gone is not.
        return link === null ? null : { ...head, "file.size": null, modified, drift, ...rest };
      case "TRAWLER_REFUSED":
        // `/etc/mtab` leads into /proc: no fault of the container.
        if (link === null) problem("denied", errorMessage(error));
        return { ...head, "file.size": size, modified, drift, ...rest };
      case "TRAWLER_DENIED":
        problem("denied", errorMessage(error));
        return { ...head, "file.size": size, modified, drift, ...rest };
      default:
        throw error;
    }
  }
}

/** Null for what is no text. A character that the bound has cut is left out. */
function textOf(bytes: Uint8Array, truncated: boolean): string | null {
  if (bytes.includes(0)) return null;
  return new TextDecoder().decode(bytes, { stream: truncated });
}
