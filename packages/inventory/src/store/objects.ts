import { createHash } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { pack, unpack } from "../compress.ts";
import { bytesOf, numberOf, textOf } from "../sqlite.ts";

/** Larger objects are kept out of line, once for all records that hold the same. */
const OUT_OF_LINE = 64 * 1024;
/** Smaller ones are packed together, as objects of a kind have much in common: so many, or so many bytes. */
const BLOCK = { objects: 16, bytes: 128 * 1024 } as const;

/** The kept objects of one batch: small ones in blocks, large ones by digest. */
export interface Objects {
  /** `isNew`: nothing is kept of that record yet. `isFinal`: the object will not change any more. */
  save(record: number, past: string, object: Uint8Array | null, traits: SaveTraits): void;
  /** Takes away what belongs to a record. */
  remove(record: number): void;
  /** Writes the blocks that are not full, and drops what nobody holds any more. */
  flush(): void;
}

interface SaveTraits {
  readonly isNew: boolean;
  readonly isFinal: boolean;
}

interface Block {
  readonly id: number;
  readonly objects: Uint8Array[];
  bytes: number;
}

/** Prepares the statements once for all batches. */
export function prepareObjects(database: DatabaseSync): () => Objects {
  const held = database.prepare("SELECT block, digest FROM details WHERE record = ?");
  const newest = database.prepare("SELECT max(id) AS id FROM blocks");
  const savePast = database.prepare(
    `INSERT INTO details (record, past) VALUES (?, ?) ON CONFLICT (record) DO UPDATE SET past = excluded.past`,
  );
  const saveAll = database.prepare(
    `INSERT INTO details VALUES (?, ?, ?, ?, ?) ON CONFLICT (record) DO UPDATE
     SET past = excluded.past, block = excluded.block, place = excluded.place, digest = excluded.digest`,
  );
  const saveBlock = database.prepare("INSERT INTO blocks VALUES (?, ?, ?)");
  const dropBlock = database.prepare(
    "DELETE FROM blocks WHERE id = ? AND NOT EXISTS (SELECT 1 FROM details WHERE details.block = blocks.id)",
  );
  const savePayload = database.prepare("INSERT OR IGNORE INTO payloads VALUES (?, ?)");
  const dropPayload = database.prepare(
    "DELETE FROM payloads WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM details WHERE details.digest = payloads.digest)",
  );
  const remove = database.prepare("DELETE FROM details WHERE record = ?");

  return () => {
    let next = numberOf(newest.get()?.["id"]) + 1;
    // What is final stays as long as its record; what is not goes soon, and its block with it.
    const open: { final: Block | null; passing: Block | null } = { final: null, passing: null };
    const leftBlocks = new Set<number>();
    const leftPayloads = new Set<string>();

    const leave = (record: number): void => {
      const row = held.get(record);
      const digest = textOf(row?.["digest"]);
      const block = numberOf(row?.["block"]);
      if (digest !== null) leftPayloads.add(digest);
      if (block !== 0) leftBlocks.add(block);
    };

    const write = ({ id, objects, bytes }: Block): void => {
      const whole = objects.length === 1 ? objects[0] : Buffer.concat(objects, bytes);
      if (whole !== undefined) saveBlock.run(id, objects.map(({ length }) => length).join(), pack(whole));
    };

    const place = (object: Uint8Array, which: "final" | "passing"): readonly [number, number] => {
      let block = open[which];
      if (block === null) {
        block = { id: next, objects: [], bytes: 0 };
        next += 1;
        open[which] = block;
      }
      const at = block.objects.push(object) - 1;
      block.bytes += object.length;
      if (block.objects.length >= BLOCK.objects || block.bytes >= BLOCK.bytes) {
        write(block);
        open[which] = null;
      }
      return [block.id, at];
    };

    return {
      save: (record, past, object, { isNew, isFinal }) => {
        if (object === null) {
          savePast.run(record, past);
          return;
        }
        if (!isNew) leave(record);
        if (object.length > OUT_OF_LINE) {
          const digest = createHash("sha256").update(object).digest("hex");
          savePayload.run(digest, pack(object));
          saveAll.run(record, past, null, null, digest);
        } else {
          const [block, at] = place(object, isFinal ? "final" : "passing");
          saveAll.run(record, past, block, at, null);
        }
      },
      remove: (record) => {
        leave(record);
        remove.run(record);
      },
      flush: () => {
        for (const block of [open.final, open.passing]) if (block !== null) write(block);
        open.final = null;
        open.passing = null;
        for (const id of leftBlocks) dropBlock.run(id);
        for (const digest of leftPayloads) dropPayload.run(digest);
      },
    };
  };
}

/** Reads the object that a record's details name; null where there is none. */
export function prepareLoading(
  database: DatabaseSync,
): (row: Readonly<Record<string, unknown>> | undefined) => Readonly<Record<string, unknown>> | null {
  const payload = database.prepare("SELECT object FROM payloads WHERE digest = ?");
  const block = database.prepare("SELECT lengths, objects FROM blocks WHERE id = ?");
  return (row) => {
    const digest = textOf(row?.["digest"]);
    const bytes = digest === null ? fromBlock(block, row) : whole(payload.get(digest));
    return bytes === null ? null : JSON.parse(new TextDecoder().decode(bytes));
  };
}

function whole(row: Readonly<Record<string, unknown>> | undefined): Uint8Array | null {
  const packed = bytesOf(row?.["object"]);
  return packed === null ? null : unpack(packed);
}

function fromBlock(block: StatementSync, row: Readonly<Record<string, unknown>> | undefined): Uint8Array | null {
  const id = numberOf(row?.["block"]);
  const found = id === 0 ? undefined : block.get(id);
  const packed = bytesOf(found?.["objects"]);
  if (packed === null) return null;
  const lengths = (textOf(found?.["lengths"]) ?? "").split(",").map(Number);
  const at = numberOf(row?.["place"]);
  const from = lengths.slice(0, at).reduce((sum, length) => sum + length, 0);
  return unpack(packed).subarray(from, from + (lengths[at] ?? 0));
}
