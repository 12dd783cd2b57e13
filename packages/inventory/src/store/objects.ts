import { createHash } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { pack, unpack } from "../compress.ts";
import { bytesOf, textOf } from "../sqlite.ts";

/** Larger objects are kept out of line, once for all records that hold the same. */
const OUT_OF_LINE = 64 * 1024;

/** The kept objects: small ones beside their record, large ones by digest. */
export interface Objects {
  save(record: number, past: string, object: Uint8Array | null): void;
  /** Takes away what belongs to a record, and the large object that nobody else holds. */
  remove(record: number): void;
}

export function createObjects(database: DatabaseSync): Objects {
  const digestOf = database.prepare("SELECT digest FROM details WHERE record = ?");
  const savePast = database.prepare(
    `INSERT INTO details (record, past) VALUES (?, ?) ON CONFLICT (record) DO UPDATE SET past = excluded.past`,
  );
  const saveAll = database.prepare(
    `INSERT INTO details VALUES (?, ?, ?, ?) ON CONFLICT (record)
     DO UPDATE SET past = excluded.past, object = excluded.object, digest = excluded.digest`,
  );
  const savePayload = database.prepare("INSERT OR IGNORE INTO payloads VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM details WHERE record = ?");
  const dropPayload = database.prepare(
    "DELETE FROM payloads WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM details WHERE details.digest = payloads.digest)",
  );
  const forget = (digest: string | null): void => {
    if (digest !== null) dropPayload.run(digest);
  };
  const heldBy = (record: number): string | null => textOf(digestOf.get(record)?.["digest"]);
  return {
    save: (record, past, object) => {
      if (object === null) {
        savePast.run(record, past);
        return;
      }
      const before = heldBy(record);
      const large = object.length > OUT_OF_LINE;
      const digest = large ? createHash("sha256").update(object).digest("hex") : null;
      if (digest !== null) savePayload.run(digest, pack(object));
      saveAll.run(record, past, large ? null : pack(object), digest);
      if (before !== digest) forget(before);
    },
    remove: (record) => {
      const digest = heldBy(record);
      remove.run(record);
      forget(digest);
    },
  };
}

/** The object beside a record, or out of line. */
export function loadObject(
  row: Readonly<Record<string, unknown>> | undefined,
  payload: StatementSync,
): Readonly<Record<string, unknown>> | null {
  const digest = textOf(row?.["digest"]);
  const bytes = bytesOf(digest === null ? row?.["object"] : payload.get(digest)?.["object"]);
  return bytes === null ? null : JSON.parse(new TextDecoder().decode(unpack(bytes)));
}
