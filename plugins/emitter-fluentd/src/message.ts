import { ExtensionCodec, encode } from "@msgpack/msgpack";
import { type Document, documentOf, type NameOf, parseFrame } from "@trawler/format";
import type { Envelope } from "@trawler/plugin-api";

/** Forward protocol specification v1: time with nanoseconds is extension type 0, two unsigned 32-bit integers. */
class EventTime {
  readonly milliseconds: number;

  constructor(milliseconds: number) {
    this.milliseconds = milliseconds;
  }
}

const codec: ExtensionCodec = new ExtensionCodec();
codec.register({
  type: 0,
  encode(value: unknown) {
    if (!(value instanceof EventTime)) return null;
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setUint32(0, Math.floor(value.milliseconds / 1_000));
    bytes.setUint32(4, (value.milliseconds % 1_000) * 1_000_000);
    return new Uint8Array(bytes.buffer);
  },
  decode: (bytes) => bytes,
});

/**
 * `frame`: one record, the frame itself. `features`: a record with the metadata, then one a feature with `feature_type`,
 * `feature_key` and `feature_val`, as the forerunner wrote them.
 */
type Records = "frame" | "features";

export interface Selection {
  readonly records: Records;
  /** Names the subject in the metadata of `features`. */
  readonly nameOf: NameOf;
}

type Entry = readonly [EventTime, object];

/** A message of the forward mode: `[tag, entries, options]`; the receiver answers with the chunk's name. */
export function forwardMessage(
  tag: string,
  envelopes: readonly Envelope[],
  selection: Selection,
  chunk: string,
): Uint8Array {
  const entries = envelopes.flatMap(({ bytes }) => entriesOf(bytes, selection));
  return encode([tag, entries, { chunk, size: entries.length }], { extensionCodec: codec, ignoreUndefined: true });
}

function entriesOf(bytes: Uint8Array, { records, nameOf }: Selection): readonly Entry[] {
  const frame = parseFrame(bytes);
  const time = new EventTime(Date.parse(frame.time));
  if (records === "frame") return [[time, frame]];
  const document = documentOf(frame, nameOf);
  return [[time, document.metadata], ...document.rows.map((row): Entry => [time, featureRecord(row)])];
}

function featureRecord({ type, key, value }: Document["rows"][number]): object {
  return { feature_type: type, feature_key: key, feature_val: value };
}
