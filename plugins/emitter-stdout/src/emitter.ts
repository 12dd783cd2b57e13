import { type Format, formatFrame, type NameOf } from "@trawler/format";
import { type Emitter, type Envelope, errorCode, errorMessage, TrawlerError } from "@trawler/plugin-api";
import { DescriptorWriter } from "./descriptor.ts";
import { frameLine } from "./text.ts";

export interface OutputOptions {
  readonly descriptor: number;
  readonly format: Format | "text";
  /** Of subjects in the line formats. */
  readonly nameOf?: NameOf;
  readonly colours: boolean;
}

/** Writes each batch as lines to a descriptor. A reader that has gone (EPIPE) makes every later frame `rejected`. */
export function descriptorEmitter({ descriptor, format, nameOf, colours }: OutputOptions): Emitter {
  const writer = new DescriptorWriter(descriptor);
  let closed = false;
  return {
    async write(envelopes, { signal }) {
      if (!closed) {
        const lines = envelopes.map((envelope) =>
          format === "text"
            ? new TextEncoder().encode(`${frameLine(envelope, colours)}\n`)
            : formatFrame(envelope.bytes, format, nameOf),
        );
        try {
          await writer.write(Buffer.concat(lines), signal);
          return undefined;
        } catch (error) {
          if (signal.aborted)
            throw new TrawlerError("TRAWLER_PLUGIN_TIMEOUT", "Standard output takes no more", { cause: error });
          if (errorCode(error) !== "EPIPE")
            throw new TrawlerError("TRAWLER_RETRY", errorMessage(error), { cause: error });
          closed = true;
        }
      }
      return { rejected: envelopes.map(rejection) };
    },
  };
}

const rejection = ({ id }: Envelope) => ({
  id,
  code: "TRAWLER_GONE",
  message: "The reader of standard output has gone",
});
